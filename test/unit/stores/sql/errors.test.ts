import { hints, isContention } from '../../../../src/stores/sql/errors.js'

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

const HBA = "Allow the pool's user, database and address in the server's pg_hba.conf."
const CLIENT_CERTIFICATE =
  "The server requires a client certificate: pass cert and key in the pool's option ssl."

test.each<[message: string, code: string, fix: string | undefined]>([
  [
    'no pg_hba.conf entry for host "10.0.0.7", user "app", database "shop", no encryption',
    '28000',
    `${HBA} If its entry for them is hostssl, set the pool's option ssl.`,
  ],
  [
    'no pg_hba.conf entry for host "10.0.0.7", user "app", database "shop", SSL off',
    '28000',
    `${HBA} If its entry for them is hostssl, set the pool's option ssl.`,
  ],
  ['no pg_hba.conf entry for host "10.0.0.7", user "app", SSL encryption', '28000', HBA],
  ['pg_hba.conf rejects connection for host "10.0.0.7", SSL encryption', '28000', HBA],
  ['connection requires a valid client certificate', '28000', CLIENT_CERTIFICATE],
  ['ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116\n', '', CLIENT_CERTIFICATE],
  ['ssl3_read_bytes:sslv3 alert bad certificate:SSL alert number 42\n', '', undefined],
  [
    'unable to verify the first certificate',
    '',
    "Trust the server's certificate: pass its CA in the pool's option ssl.",
  ],
])('the fix of %j (%s) is %j', (message, code, fix) => {
  expect(hints('postgres', '"headgate"')(Object.assign(new Error(message), { code }))).toBe(fix)
})
