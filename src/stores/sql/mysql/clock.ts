/** Microseconds since the Unix epoch when the statement began, whatever the time zone of the connection is. */
export const BEGUN = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"

const MINUTE_US = 60_000_000
const WAITED = 'TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))'

/**
 * The same at this moment: a statement may have waited for a lock, though not for nearly half an hour. What it has waited is known
 * by local time, which may have been put on or back by an hour, or by half of one, and the clock by up to a minute.
 */
export const CLOCK = `${BEGUN} + MOD(${WAITED} + ${61 * MINUTE_US}, ${30 * MINUTE_US}) - ${MINUTE_US}`
