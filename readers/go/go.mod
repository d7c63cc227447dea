module malkoha

go 1.19
