import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldName } from 'headgate'
import { accountAsTyped, accountOf, NUMBERED_VICTIM, SPELT_VICTIM, TWIN, VICTIM } from './accounts.js'
import { SITES_TITLE } from './adapters/table.js'
import { ATTACKS } from './attacks.js'
import { INVISIBLE_SPELLINGS, NUMBERS, SPELLINGS } from './spellings.js'
import { playBoth, type Row, tableOf } from './table.js'

type Figures = readonly [reached: number, lost: number, lockouts: number, user: string]

/** Each attack: guesses; what came of them without device cookies, and with them. */
const EXPECTED: readonly (readonly [
  name: string,
  guesses: number,
  without: Figures,
  withCookies: Figures,
])[] = [
  // The five of account and address, a ban of half an hour, and five more; then a longer ban.
  ['one address, one account, 1 hour', 1000, [10, 0, 0, '10 of 10'], [10, 0, 0, '10 of 10']],
  // However slow, it gets what one address has, and leaves the account its other half.
  [
    'one address, one account, one every 3 minutes, 6 hours',
    120,
    [15, 0, 0, '10 of 10'],
    [15, 0, 0, '10 of 10'],
  ],
  // The fifty of the address, and the one that was right is refunded.
  [
    'one address, 1000 accounts, one leaked password, 1 hour',
    1000,
    [51, 1, 0, '10 of 10'],
    [51, 1, 0, '10 of 10'],
  ],
  // Twice the ten of the account.
  ['500 addresses, one account, 1 hour', 500, [20, 0, 0, '0 of 10'], [20, 0, 0, '10 of 10']],
  // Two guesses for each address and each account, as few as a person mistypes.
  ['250 addresses, 250 accounts, 1 hour', 500, [500, 3, 0, '10 of 10'], [500, 3, 0, '10 of 10']],
  ['own logins between, one account, 1 hour', 200, [10, 0, 0, '10 of 10'], [10, 0, 0, '10 of 10']],
  [
    'own logins between, 200 accounts, one leaked password',
    200,
    [52, 1, 0, '10 of 10'],
    [52, 1, 0, '10 of 10'],
  ],
  ['100 at once, one address, one account', 100, [5, 0, 0, '1 of 1'], [5, 0, 0, '1 of 1']],
  ['100 at once, 100 addresses, one account', 100, [10, 0, 0, '0 of 1'], [10, 0, 0, '1 of 1']],
  // Five, a ban of half an hour, five, two hours, five.
  ['one a minute, one address, 200 minutes', 200, [15, 0, 0, '10 of 10'], [15, 0, 0, '10 of 10']],
  // Ten in each of the half hours, of which the last one is not over.
  ['one a minute, new addresses, 200 minutes', 200, [70, 0, 0, '0 of 10'], [70, 0, 0, '10 of 10']],
  [
    'one every 3 minutes, new addresses, 6 hours; a day later',
    120,
    [100, 0, 1, '0 of 1'],
    [100, 0, 1, '1 of 1'],
  ],
  [
    'the same, forgotten by hand; the user has a new browser',
    120,
    [100, 0, 1, '1 of 1'],
    [100, 0, 1, '1 of 1'],
  ],
  ['100 hung up before the answer, one address', 100, [5, 0, 0, '10 of 10'], [5, 0, 0, '10 of 10']],
  // As many as of fast logins: attempts in progress hold their places, and bans count what failures deny.
  ['slow logins, 10 at once each minute, one address', 2000, [15, 0, 0, '10 of 10'], [15, 0, 0, '10 of 10']],
  ['slow logins, two at once each minute, one address', 400, [15, 0, 0, '10 of 10'], [15, 0, 0, '10 of 10']],
  ['slow logins, own ones among them, one address', 1000, [15, 0, 0, '10 of 10'], [15, 0, 0, '10 of 10']],
  ['slow logins, 10 at once each minute, new addresses', 600, [20, 0, 0, '0 of 10'], [20, 0, 0, '10 of 10']],
  [
    'three spellings of a path that redirects, new addresses',
    100,
    [10, 0, 0, '0 of 1'],
    [10, 0, 0, '1 of 1'],
  ],
  ['spellings of one name, new addresses', 50, [10, 0, 0, '0 of 1'], [10, 0, 0, '1 of 1']],
  ['invisible characters in a name, new addresses', 72, [0, 0, 0, '1 of 1'], [0, 0, 0, '1 of 1']],
  ['a number for a name, new addresses', 16, [10, 0, 0, '0 of 1'], [10, 0, 0, '1 of 1']],
  ['arrays and objects for a name, new addresses', 28, [0, 0, 0, '1 of 1'], [0, 0, 0, '1 of 1']],
  ['IPv6, 100 at once within one /56, one account', 100, [5, 0, 0, '1 of 1'], [5, 0, 0, '1 of 1']],
  [
    'IPv6 within one /56, 200 accounts, one leaked password',
    200,
    [52, 1, 0, '10 of 10'],
    [52, 1, 0, '10 of 10'],
  ],
  // Four times the fifty, two that were right, and three more as the first ones leave the window.
  ['IPv6 within four /56, 400 accounts, the same', 400, [205, 2, 0, '10 of 10'], [205, 2, 0, '10 of 10']],
  // No network has fifty.
  [
    'IPv6 within 256 /56 (a /48), 400 accounts, the same',
    400,
    [400, 4, 0, '10 of 10'],
    [400, 4, 0, '10 of 10'],
  ],
  ['spoofed X-Forwarded-For, no proxy is trusted', 200, [52, 1, 0, '10 of 10'], [52, 1, 0, '10 of 10']],
  ['spoofed X-Forwarded-For before what the proxy adds', 200, [52, 1, 0, '10 of 10'], [52, 1, 0, '10 of 10']],
  // The hundred in a row of all known devices together; the strangers' hundred is left, and lets the user
  // in.
  [
    '20 stockpiled device cookies after a changed password',
    400,
    [100, 0, 1, '0 of 1'],
    [100, 0, 1, '1 of 1'],
  ],
  // As many as of a stranger.
  [
    'device cookies of another guard with the same secret',
    300,
    [10, 0, 0, '10 of 10'],
    [10, 0, 0, '10 of 10'],
  ],
  // As many as of strangers: the cookie of another name is worth nothing.
  [
    'owner of a name in another case, with its device cookie',
    500,
    [20, 0, 0, '0 of 10'],
    [20, 0, 0, '10 of 10'],
  ],
  // The thirty failures that logins clear in an hour, and twice the ten of the account.
  ['owner of a name in another case, logging in between', 200, [50, 0, 0, '2 of 10'], [50, 0, 0, '10 of 10']],
]

const rows = new Map<string, Row>()

/** Plays an attack once, for all tests that need it. */
async function rowOf(name: string): Promise<Row> {
  const known = rows.get(name)
  if (known !== undefined) return known
  const attack = ATTACKS.find((each) => each.name === name)
  if (attack === undefined) throw new Error(`There is no attack "${name}".`)
  const row = await playBoth(attack)
  rows.set(name, row)
  return row
}

function figuresOf({ reached, lost, lockouts, userIn, userTries }: Row['without']): Figures {
  return [reached, lost, lockouts, `${userIn} of ${userTries}`]
}

test('every attack has expected figures', () => {
  expect(EXPECTED.map(([name]) => name)).toEqual(ATTACKS.map(({ name }) => name))
})

test.each(EXPECTED)(
  'the attack "%s" has the expected figures',
  async (name, guesses, without, withCookies) => {
    const row = await rowOf(name)
    expect([row.without.guesses, row.withCookies.guesses]).toEqual([guesses, guesses])
    expect({
      without: figuresOf(row.without),
      withCookies: figuresOf(row.withCookies),
    }).toEqual({ without, withCookies })
  },
)

test('every spelling is a name that the application knows, so that each is a guess', () => {
  const spellings = [...SPELLINGS, ...INVISIBLE_SPELLINGS]
  expect(spellings.filter((spelling) => accountOf(spelling) !== SPELT_VICTIM)).toEqual([])
  const numbers = NUMBERS.map((form) => accountOf(JSON.parse(form('').body).username))
  expect(numbers.filter((account) => account !== NUMBERED_VICTIM)).toEqual([])
})

test('a name in another case is another account of the application that compares names as typed, and the same one of the guard', () => {
  expect([VICTIM, TWIN.account].map(accountAsTyped)).toEqual([VICTIM, TWIN.account])
  expect(foldName(TWIN.account)).toBe(foldName(VICTIM))
})

test('every name with an invisible character is answered 400', async () => {
  const { without, withCookies } = await rowOf('invisible characters in a name, new addresses')
  expect([without.answers, withCookies.answers]).toEqual([{ 400: 72 }, { 400: 72 }])
})

test('every array, object and other malformed name is answered 400', async () => {
  const { without, withCookies } = await rowOf('arrays and objects for a name, new addresses')
  expect([without.answers, withCookies.answers]).toEqual([{ 400: 28 }, { 400: 28 }])
})

test('guesses are answered 401 by the handler or 429 by the guard, unless the client hangs up', async () => {
  const burst = await rowOf('100 at once, one address, one account')
  expect(burst.without.answers).toEqual({ 401: 5, 429: 95 })
  const hungUp = await rowOf('100 hung up before the answer, one address')
  expect(hungUp.without.answers).toEqual({ 0: 5, 429: 95 })
})

test('every guess that is answered by a redirect is a failure', async () => {
  const { without } = await rowOf('three spellings of a path that redirects, new addresses')
  expect(without.answers).toEqual({ 302: 10, 429: 90 })
})

test('the printed run that docs/login.md takes its figures from is what these attacks print', async () => {
  const run = readFileSync(join(__dirname, '../results/attacks.txt'), 'utf8')
  const printed: Row[] = []
  for (const { name } of ATTACKS) printed.push(await rowOf(name))
  expect(run.slice(0, run.indexOf(`\n\n  ${SITES_TITLE}`))).toBe(`$ npm run attacks\n\n${tableOf(printed)}`)
})
