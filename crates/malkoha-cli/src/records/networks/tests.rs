//! Lines of lists and what they say, as people have them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;

/// One case in each line: networks, and lines of lists that have them.
const CASES: &str = r#"
172.16.0.0-172.31.255.255 | 172.16.0.0/12 | 172.16.0.0/255.240.0.0 | 172.16.0.0 255.240.0.0
172.16.0.0-172.31.255.255 | 172.16.0.0-172.31.255.255 | 172.016.000.000 - 172.031.255.255 , 000 , x
172.16.0.0-172.31.255.255 | Some range:172.16.0.0-172.31.255.255 | deny 172.16.0.0/12;
172.16.0.0-172.31.255.255 | Deny from 172.16.0.0/12 | Require not ip 172.16.0.0/12
172.16.0.0-172.31.255.255 | add x 172.16.0.0/12 timeout 300 | add address=172.16.0.0/12 list=x
172.16.0.0-172.31.255.255 | -A INPUT -s 172.16.0.0/12 -d 10.0.0.1 -j DROP | ::ffff:172.16.0.0/108
172.16.0.0-172.31.255.255 | 172.16.0.0/12 ; SBL 10.0.0.1 | 172.20.1.2/12,US,somebody
172.16.0.0-172.31.255.255 | access-list 10 deny 172.16.0.0 0.15.255.255 | 172.16.0.0/0.15.255.255
172.16.0.0-172.31.255.255 | route add 172.16.0.0 mask 255.240.0.0 10.0.0.1
172.16.0.0-172.31.255.255 | range 172.16.0.0 172.31.255.255 | 172.16.0.0,172.31.255.255,US
172.16.0.0-172.31.255.255 | 172.16.0.0 12 | 172.16.0.0,12,US | source 172.16.0.0 12
172.16.0.0-172.31.255.255 | 172.16.0.0 / 12 | 172.16/12 | 172.16.0.0 - 172.31.255.255
172.16.0.0-172.31.255.255 | A, B 1.2.3.4 of C:172.16.0.0-172.31.255.255
172.16.0.0-172.31.255.255 | -A I -m comment --comment 1.2.3.4 -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | :do { add comment=1.2.3.4 address=172.16.0.0/12 list=x } on-error={}
172.16.0.0-172.31.255.255 | x,172.16.0.0,172.31.255.255 | 172.16.0.0,172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0 to 172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0–172.31.255.255 | 172.16.0.0..172.31.255.255
172.16.0.0-172.31.255.255 | 172.16.0.0 /12 | 172.16.0.0:172.31.255.255
172.16.0.0-172.31.255.255 | Require not ip 172.16.0.0/12
172.16.0.0-172.31.255.255 | add comment="allow 1.2.3.4" address=172.16.0.0/12 list=x
172.16.0.0-172.31.255.255 | add x 172.16.0.0/12 comment "do not return"
172.16.0.0-172.31.255.255 | add comment="a #5 \" 1.2.3.4" address=172.16.0.0/12
172.16.0.0-172.31.255.255 | -A I -m comment --comment "not 1.2.3.4" -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | 172.16.0.0/12,200,OK | 172.16.0.0/12 all except ours
172.16.0.0-172.31.255.255 | "172.16.0.0","172.31.255.255","2886729728","x"
1.2.3.4-1.2.3.4 | 1.2.3.4:80 | ALL: 1.2.3.4 | http://1.2.3.4:80/x | deny ip 1.2.3.4 0.0.0.0 any
1.2.3.4-1.2.3.4 | 1.2.3.4 7 | 1.2.3.4	100 | 1. 1.2.3.4 | 1.2.3.4 32 | 1.2.3.4,1.2.3.4,US
1.2.3.8-1.2.3.15 | 1.2.3.8,1.2.3.15,US | 1.2.3.8-15
0.0.0.0-255.255.255.255 | 0.0.0.0/0 | 0.0.0.0 0.0.0.0
2001:db8::1-2001:db8::1 | [2001:db8::1]:80 | 2001:db8::1 | 2001:db8::1%eth0
2001:db8::-2001:db8::1 | 2001:db8::/127 | 2001:db8::-2001:db8::1
10.1.0.0-10.1.255.255 | ALL: 10.1. | 10.1.*.*
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | deny from 1.2.3.4 5.6.7.8 | { 1.2.3.4, 5.6.7.8 }
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4; 5.6.7.8; | 1.2.3.4, 5.6.7.8,
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | ["1.2.3.4","5.6.7.8"] | ALL: 1.2.3.4, 5.6.7.8
5.6.7.8-5.6.7.8 1.2.3.4-1.2.3.4 | 5.6.7.8 1.2.3.4 | x,5.6.7.8,1.2.3.4
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 9.0.0.0-9.0.0.0 | 1.2.3.4 5.6.7.8 9.0.0.0 8
1.2.3.0-1.2.3.255 5.6.7.0-5.6.7.255 | 1.2.3.0/24 5.6.7.0/24
1.2.3.4-1.2.3.4 5.6.7.8-5.6.7.8 | 1.2.3.4 timeout 1h counter packets 0 bytes 0, 5.6.7.8 expires 1s }
1.2.3.4-1.2.3.4 !5.6.7.8-5.6.7.8 | acl x { 1.2.3.4; !5.6.7.8; }; | <x> { 1.2.3.4, !5.6.7.8 }
172.16.0.0-172.31.255.255 | route ADD 172.16.0.0 MASK 255.240.0.0 10.0.0.1
1.2.3.4-1.2.3.9 | start 1.2.3.4 end 1.2.3.9 | start=1.2.3.4 end=1.2.3.9
1.2.3.4-1.2.3.9 | first: 1.2.3.4, last: 1.2.3.9
1.2.3.4-1.2.3.9 | 1.2.3.4- 1.2.3.9 | 1.2.3.4 -1.2.3.9 | 1.2.3.4 through 1.2.3.9
1.2.3.4-1.2.3.9 | from 1.2.3.4 to 1.2.3.9 | between 1.2.3.4 and 1.2.3.9
1.2.3.4-1.2.3.9 | start_ip=1.2.3.4;end_ip=1.2.3.9
1.2.3.4-1.2.3.9 | {"start":"1.2.3.4","end":"1.2.3.9"} | set start-ip 1.2.3.4 end-ip 1.2.3.9
172.16.0.0-172.31.255.255 | ip4:172.16.0.0/12 | addr:172.16.0.0/12 | v=spf1 ip4:172.16.0.0/12 -all
172.16.0.0-172.31.255.255 | 10 deny 172.16.0.0, wildcard bits 0.15.255.255 (3 matches)
172.16.0.0-172.31.255.255 | 172.16.0.0 netmask: 255.240.0.0 | 172.16.0.0 prefixlen 12
172.16.0.0-172.31.255.255 | 172.16.0.0;172.31.255.255;US | 172.16.0.0;12;US
172.16.0.0-172.31.255.255 | "172.16.0.0";"172.31.255.255"
172.16.0.0-172.31.255.255 | DROP all -- 172.16.0.0/12 0.0.0.0/0
172.16.0.0-172.31.255.255 | 1 DROP tcp -- 172.16.0.0/12 anywhere
172.16.0.0-172.31.255.255 | -A OUTPUT -d 172.16.0.0/12 -j DROP | block out to 172.16.0.0/12
172.16.0.0-172.31.255.255 | -A I -d 10.0.0.1 -s 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | dst=1.2.3.4 src=172.16.0.0/12
172.16.0.0-172.31.255.255 | block return in from 172.16.0.0/12 | Anywhere DENY IN 172.16.0.0/12
172.16.0.0-172.31.255.255 | -A OUTPUT -s 10.0.0.1 -d 172.16.0.0/12 -j DROP
172.16.0.0-172.31.255.255 | add address=172.16.0.0/12 disabled=no | ip saddr 172.16.0.0/12 log drop
2001:db8::-2001:db8::1 | ip6:2001:db8::/127 | start 2001:db8:: end 2001:db8::1
1.2.3.4-1.2.3.4 !5.6.7.8-5.6.7.8 | deny 1.2.3.4; allow 5.6.7.8; | deny 1.2.3.4;  allow 5.6.7.8; # x
!1.2.3.4-1.2.3.4 | IP-CIDR,1.2.3.4/32,DIRECT,no-resolve | ALL: ALL EXCEPT 1.2.3.4
!1.2.3.4-1.2.3.4 | add address=1.2.3.4 list=whitelist | ignoreip = 1.2.3.4
1.2.3.4-1.2.3.9 | set iprange 1.2.3.4 1.2.3.9 | /* x */ 1.2.3.4-1.2.3.9
!1.2.3.4-1.2.3.4 | IP-CIDR,1.2.3.4/32,DIRECT | 1.2.3.4 DUNNO
!1.2.3.4-1.2.3.4 | allow 1.2.3.4; | add x 1.2.3.4 nomatch | -A I -s 1.2.3.4/32 -j ACCEPT
!1.2.3.4-1.2.3.4 | Require ip 1.2.3.4 | 1.2.3.4 except; | 1.2.3.4/32 0; | 1.2.3.4 OK
!1.2.3.4-1.2.3.4 | pass in from 1.2.3.4 | !1.2.3.4 | sshd: 1.2.3.4 : ALLOW | -s 1.2.3.4 -j RETURN
1.2.3.4-1.2.3.4 | Some description 1.2.3.4 | malware remark 1.2.3.4
1.2.3.4-1.2.3.4 | -A INPUT ! -i lo -s 1.2.3.4 -j DROP | -p tcp ! --dport 22 -s 1.2.3.4 -j DROP
!1.2.3.4-1.2.3.4 | -A INPUT ! -s 1.2.3.4 -j DROP | block in from ! 1.2.3.4
1.2.3.4-1.2.3.4 | 1.2.3.4 - 5.6.7.8 [01/Jan/2026] "GET / HTTP/1.1" 200 "allow"
1.2.3.4-1.2.3.4 | sshd[7]: Failed password for invalid user allow from 1.2.3.4 port 22 ssh2
1.2.3.4-1.2.3.4 | deny ip 1.2.3.4/32 10.0.0.0/8 | DROP tcp -- 1.2.3.4 10.0.0.1 tcp dpt:22
224.0.0.0-255.255.255.255 | 224.0.0.0 - 255.255.255.255 , 000 , x
Scattered | 1.2.3.4 - 255.255.255.255 !H 0 | 127.0.0.0 - 255.0.0.0 !
Else | LOG 0 -- 10.0.0.9 0.0.0.0/0 | MASQUERADE 0 -- 10.0.0.0/24 0.0.0.0/0
Nothing | 10 remark 1.2.3.4 | remark 1.2.3.4 | description of 1.2.3.4
Nothing | // 1.2.3.4 | /* 1.2.3.4 */ | -- 1.2.3.4 | REM 1.2.3.4 | access-list 10 remark 1.2.3.4
Nothing | # 1.2.3.4 | ; x | *filter | :INPUT DROP [0:0] | COMMIT | create x hash:net
NoNetwork | *.2.3.4 | 1.2.3.4/0.255.0.255 | x | 0.0.0.0/33 | ads.example | - | 1.2.3.4.5
NoNetwork | 5.6.7.8-1.2.3.4 | 1.2.3:80 | 10/8 | 172.016/12
1.2.3.4-1.2.3.4 | 12/8 03:11:02 sshd: 1.2.3.4 | Dec 12/8 1.2.3.4 | 3/8,1.2.3.4
Ends | 1.2.3.4 5.6.7.8 x | 1.2.3.4 1.6.7.8 | "1.2.3.4","1.2.3.9","US" | US,1.2.3.4,1.2.3.9
Ends | 1.2.3.4, 1.6.7.8 | 1.2.3.4	1.2.3.5 | 10.0.0.4 10.0.0.7 | 2001:db8::1 2001:db8::9
Ends | 1.2.3.0 - 24 | 1.2.3.0 -24 | 1.2.3.0- 24 | 10.1.0.0 - /16 | 1.2.3.4;1.2.3.9;US
Goes | -A INPUT -d 1.2.3.4 -j DROP | deny ip any host 1.2.3.4 | ip daddr 1.2.3.4 drop
Goes | acl x dst 1.2.3.4
Goes | block in from any to 1.2.3.4 | DROP tcp -- 0.0.0.0/0 1.2.3.4
Goes | add dst-address=1.2.3.4 action=drop
Goes | rule 5 deny ip destination 1.2.3.0 0.0.0.255 | pass in from any to 1.2.3.4
Else | -A I -s 1.2.3.4 -j LOG | LOG all -- 1.2.3.4 0.0.0.0/0 | add src-address=1.2.3.4 action=log
Else | ip saddr 1.2.3.4 log | -A P -s 10.0.0.0/8 -j SNAT --to-source 1.2.3.4
Else | ip saddr 1.2.3.4 counter
Else | rdr on em0 from any to 1.2.3.4 -> 10.0.0.1 | -A P -s 1.2.3.4 -j MARK --set-mark 1
Every | ACCEPT all -- 0.0.0.0/0 0.0.0.0/0 | -A I -s 0.0.0.0/0 -p tcp -j DROP | allow ::/0;
Length | 1.2.3.4 8 | 1.2.3.4,24 | source 10.1.2.3 24 x | 2001:db8::1 64
Scattered | 1.2.3.4, x.example, 5.6.7.8 | 1.2.3.4 and 5.6.7.8 | 1.2.3.4 1/2 5.6.7.8
Scattered | 1.2.3.0 24 5.6.7.0 24 | 1.2.3.4 + 5.6.7.8 | {"a":"1.2.3.4","b":"5.6.7.8"}
Slashes | //1.2.3.4 | //[::1]/x
Undone | ipset del x 1.2.3.4 | -D I -s 1.2.3.4 -j DROP | no ip route 1.2.3.4 255.255.255.255
Nothing | { | ], | [
Undone | unban 1.2.3.4 | unset x 1.2.3.4 | undo rule 1.2.3.4 | remove 1.2.3.4
Undone | set x unbanip 1.2.3.4
Undone | firewall-cmd --remove-source=1.2.3.4 | deactivate x 1.2.3.4
Undone | iptables -C I -s 1.2.3.4 -j DROP
NoNetwork | 10.1.0.0 0.0.254.255 | 10.1.0.0 255.255.0 | netmask 255.255.0.0 | begin 1.2.3.4
NoNetwork | 10.1.0.0 netmask 0xffff0000 | 1.2.3.9 end 1.2.3.4 | -1.2.3.4
Undone | inactive: 1.2.3.4/32; | sshd: Unban 1.2.3.4
Undone | add address=1.2.3.4 disabled=yes | add disabled=yes address=1.2.3.4
NoNetwork | 1.2.3.4:22-33 | 10. | range 5.6.7.8 1.2.3.4
NoNetwork | set start-ip 1.2.3.4 | set end-ip 1.2.3.4 | 1.2.3.4-256
"#;

/// The same of rules, of rows of tables, and of logs, whose words mean nothing.
const RULES: &str = include_str!("tests.txt");

#[test]
fn many_signs_in_a_word_are_no_range() {
    for sign in ["-", "..", "–", ":", "://"] {
        let line = format!("1.1.1.1{sign}").repeat(100_000);
        assert_eq!(networks(line.as_bytes(), |_, _| {}), Line::Unfit(Unfit::NoNetwork), "{sign}");
    }
}

#[test]
fn the_first_network_is_the_subject() {
    let first = Some(Range::V4(0x0a01_0203, 0x0a01_0203));
    for line in [
        "10.1.2.3 5.6.7.8 GET",
        "10.1.2.3 - 255.255.255.255 [x]",
        "10.1.2.3 - 24 [x]",
        "10.1.2.3 - - [x] \"ua ; 8.8.8.8\"",
        "sshd: user description from 10.1.2.3 port 22",
        "del no disabled remark: 10.1.2.3 > 1.1.1.1",
        r#"{"ua":"remark 7. -D","ip":"10.1.2.3","x":"1.1.1.1"}"#,
    ] {
        assert_eq!(subject(line.as_bytes()), first, "{line}");
    }
    let all = Some(Range::V4(0x0a00_0000, 0x0aff_ffff));
    for line in ["10.0.0.0 - 10.255.255.255", "10.0.0.0 255.0.0.0", "10.0.0.0/8 GET", "10.*"] {
        assert_eq!(subject(line.as_bytes()), all, "{line}");
    }
    for line in ["", "# 10.1.2.3", "x", "12/8 03:11:02"] {
        assert_eq!(subject(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn lines_as_people_have_them() {
    let mut wrong = Vec::new();
    for case in CASES.lines().chain(RULES.lines()).filter(|case| !case.is_empty()) {
        let (expected, lines) = case.split_once(" | ").unwrap();
        for line in lines.split(" | ") {
            let mut all = Vec::new();
            let read = networks(line.as_bytes(), |range, is_excepted| {
                let text = match range {
                    Range::V4(a, b) => format!("{}-{}", Ipv4Addr::from(a), Ipv4Addr::from(b)),
                    Range::V6(a, b) => format!("{}-{}", Ipv6Addr::from(a), Ipv6Addr::from(b)),
                };
                all.push(if is_excepted { format!("!{text}") } else { text });
            });
            let found = match read {
                Line::Entries => all.join(" "),
                Line::Nothing => "Nothing".to_owned(),
                Line::Told(why) | Line::Unfit(why) => format!("{why:?}"),
            };
            if found != expected {
                wrong.push(format!("{line}: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
