import { isContention } from '../../../../src/stores/sql/errors.js'

test.each<[string, unknown, boolean]>([
  ['a deadlock of MySQL', { errno: 1213 }, true],
  ['a deadlock of PostgreSQL', { code: '40P01' }, true],
  ['a row that others keep locked in MySQL', { errno: 1205 }, true],
  ['a row that others keep locked in PostgreSQL', { code: '55P03' }, true],
  ['a row that others have changed', { code: '40001' }, true],
  ['a missing table', { errno: 1146 }, false],
  ['too many connections', { code: '53300' }, false],
  ['a full disk', { code: '53100' }, false],
  ['a locked file of SQLite', { errcode: 5 }, false],
  ['a refused connection', { code: 'ECONNREFUSED' }, false],
])('%s is an error about rows, so that the database counts as up: %#', (_what, error, expected) => {
  expect(isContention(error)).toBe(expected)
})
