// The CF.* commands by Jedis: `java -cp JEDIS JedisTest.java PORT`.

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.bloom.CFInsertParams;
import redis.clients.jedis.bloom.CFReserveParams;
import redis.clients.jedis.exceptions.JedisDataException;

public class JedisTest {
    static void check(Object found, Object wanted) {
        if (!found.equals(wanted)) {
            throw new AssertionError(found + " is not " + wanted);
        }
    }

    static void refused(String message, Runnable work) {
        try {
            work.run();
        } catch (JedisDataException error) {
            check(error.getMessage().contains(message), true);
            return;
        }
        throw new AssertionError("not refused: " + message);
    }

    public static void main(String[] arguments) {
        try (var jedis = new JedisPooled("127.0.0.1", Integer.parseInt(arguments[0]))) {
            jedis.cfReserve("f", 1000, CFReserveParams.reserveParams().bucketSize(2).maxIterations(20).expansion(1));
            refused("item exists", () -> jedis.cfReserve("f", 1000));
            check(jedis.cfAdd("f", "a"), true);
            check(jedis.cfAdd("f", "a"), true);
            check(jedis.cfAddNx("f", "a"), false);
            check(jedis.cfAddNx("f", "b"), true);
            check(jedis.cfCount("f", "a"), 2L);
            check(jedis.cfInsert("g", CFInsertParams.insertParams().capacity(500), "x", "y"), List.of(true, true));
            check(jedis.cfInsertNx("g", "y", "z"), List.of(false, true));
            refused("not found", () -> jedis.cfInsert("none", CFInsertParams.insertParams().noCreate(), "x"));
            check(jedis.cfExists("f", "a"), true);
            check(jedis.cfMExists("f", "a", "b", "c"), List.of(true, true, false));
            check(jedis.cfDel("f", "a"), true);
            check(jedis.cfDel("f", "c"), false);
            Map<String, Object> info = jedis.cfInfo("f");
            check(info.get("Number of items inserted"), 2L);
            check(info.get("Bucket size"), 2L);
            var items = new ArrayList<String>();
            for (int number = 0; number < 5000; number++) {
                items.add("item" + number);
            }
            var all = items.toArray(new String[0]);
            jedis.cfInsert("many", all);
            for (long iterator = 0;;) {
                Map.Entry<Long, byte[]> dump = jedis.cfScanDump("many", iterator);
                iterator = dump.getKey();
                if (iterator == 0) {
                    break;
                }
                jedis.cfLoadChunk("copy", iterator, dump.getValue());
            }
            check(jedis.cfMExists("copy", all).stream().allMatch(found -> found), true);
        }
        System.out.println("Jedis: passed");
    }
}
