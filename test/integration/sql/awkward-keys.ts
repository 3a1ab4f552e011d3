const NUL = '\0'

/** Around what a column for keys holds, in bytes, and far beyond. */
const LENGTHS = [254, 255, 256, 257, 1000, 10_000]

/** Each of them is another client. Neighbours differ in ways that a database might ignore. */
export const AWKWARD_KEYS: readonly string[] = [
  ...['', ' ', '  ', '\t', '\n', '\r\n', NUL, `${NUL}${NUL}`],
  ...['a', 'A', 'a ', ' a', 'a  ', 'a\t', 'a\n', `a${NUL}`, `a${NUL}b`, `a${NUL}c`, '\u00a0a', 'a\u200b'],
  ...['ß', 'ss', 'SS', 'ẞ', 'ı', 'i', 'I', 'İ', 'æ', 'ae', 'ﬁ', 'fi', 'ａ', 'σ', 'ς', 'Σ'],
  ...['\u00c5', 'A\u030a', '\u212b', 'jos\u00e9', 'jose\u0301', 'jose', 'JOS\u00c9'],
  ...['\ud55c', '\u1112\u1161\u11ab', 'は', 'ば', 'ハ', '一', '1', '１', '①'],
  ...['🙂', '🙃', '👩‍👩‍👧', '👩‍👩‍👦', '👍', '👍🏽', '🇩🇪', '🇩', '\ufeffa', '\ufffd', '\uffff', '\u{10ffff}'],
  ...['\ud800', '\udc00', '\udc00\ud800', '\ud800a', 'a\ud800', '\ud83d', '\ufffda'],
  ...["'", "''", "'''", '"', '""', '`', '``', "x'41'", "E'\\x41'", "_utf8mb4'a'"],
  ...['\\', '\\\\', "\\'", '\\"', '\\0', '\\x00', '\\n', "'\\", '\u001a', '\b'],
  ...['%', '%%', '_', '*', '?', '$1', ':a', ':key', '@@version', '{}', '{1,2}', 'ARRAY[1]', '/*', '#'],
  ...["'; DROP TABLE limits_1; --", '"; DROP TABLE limits_1; --', '`; DROP TABLE limits_1; --'],
  ...["\\'; DROP TABLE limits_1; -- ", "' OR '1'='1", "x'; DELETE FROM limits_1 WHERE ''='"],
  ...['1); COMMIT; --', '$$; SELECT 1; $$', `'${NUL}'; SELECT 1`, '\u02bc OR 1=1'],
  ...['0', '-0', '00', '0.0', '1e3', '1000', 'true', 'NULL', 'null', 'undefined', 'NaN'],
  ...['__proto__', 'constructor', 'toString'],
  ...LENGTHS.map((length) => 'x'.repeat(length)),
  ...LENGTHS.map((length) => `${'x'.repeat(length - 1)}y`),
  ...[126, 127, 128, 500, 5000].map((length) => 'é'.repeat(length)),
  ...[62, 63, 64, 250, 2500].map((length) => '🙂'.repeat(length)),
  ...LENGTHS.map((length) => ' '.repeat(length)),
  ...['é', '🙂'].map((last) => `${'x'.repeat(253)}${last}`),
  ...LENGTHS.map((length) => NUL.repeat(length)),
  ...LENGTHS.map((length) => '\ud800'.repeat(length)),
]
