import { pageModule } from '../../../support/page-module.js'

interface Actions {
  overrides: {
    effect: string
    who: string
    targets: object[]
    durationMs: number
    text: string
    textTo?(limit: number): string
  }[]
  editsLimit: boolean
}

const { actionsOf } = pageModule<{ actionsOf(row: object): Actions }>('finding-actions.js')

const row = (kind: string, finding: object = {}, own: object = {}) => ({
  finding: { kind, networks: ['203.0.113.0/24'], identities: ['acme'], ...finding },
  mode: 'enforce',
  hasSettings: true,
  ...own,
})
const textsOf = ({ overrides, editsLimit }: Actions) => [
  ...overrides.map(({ text }) => text),
  ...(editsLimit ? ['edit'] : []),
]
const networks = (count: number) => Array.from({ length: count }, (_, i) => `10.0.${i}.0/24`)

test.each([
  ['network-denied', row('network-denied'), ['Block 203.0.113.0/24 for 1 hour']],
  ['account-attacked', row('account-attacked'), ['Block 203.0.113.0/24 for 1 hour']],
  [
    'an attack from two networks',
    row('network-denied', { networks: networks(2) }),
    ['Block 10.0.0.0/24 and 1 other network for 1 hour'],
  ],
  [
    'an attack from many',
    row('account-attacked', { networks: networks(50) }),
    ['Block 10.0.0.0/24 and 9 other networks for 1 hour'],
  ],
  [
    'an attack on an account from everywhere',
    row('account-attacked', { networks: [] }),
    ['Block acme for 1 hour'],
  ],
  [
    'an attack on two accounts from everywhere',
    row('account-attacked', { networks: [], identities: ['a', 'b'] }),
    ['Block 2 accounts for 1 hour'],
  ],
  [
    'an attack on many accounts from everywhere, of which some would be arbitrary',
    row('account-attacked', { networks: [], identities: networks(50) }),
    ['edit'],
  ],
  ['an attack in report mode, which blocks nothing', row('network-denied', {}, { mode: 'report' }), ['edit']],
  ['few-denied', row('few-denied'), ['Raise its limit for 1 day']],
  [
    'few-denied of two',
    row('few-denied', { identities: ['a', 'b'] }),
    ['Raise the limit of 2 clients for 1 day'],
  ],
  ['many-denied', row('many-denied'), ['edit']],
  ['a store that is unavailable', row('store-outage'), []],
  ['a process that is gone', row('process-gone'), []],
  ['calm', row('calm'), []],
  ['a limiter without settings', row('network-denied', {}, { hasSettings: false }), []],
])('what fits %s', (_, given, expected) => {
  expect(textsOf(actionsOf(given))).toEqual(expected)
})

test('a raise names the new limit once that is known', () => {
  const texts = [['acme'], ['a', 'b']].map((identities) =>
    actionsOf(row('few-denied', { identities })).overrides.map(({ textTo }) => textTo?.(1200)),
  )
  expect(texts).toEqual([
    ['Raise its limit to 1,200 for 1 day'],
    ['Raise the limit of 2 clients to 1,200 for 1 day'],
  ])
})

test('a block of an attacked account is of its identity as stores keep it', () => {
  expect(
    actionsOf(row('account-attacked', { networks: [], identities: ['a', 'b'] })).overrides,
  ).toMatchObject([{ effect: 'block', targets: [{ storedIdentity: 'a' }, { storedIdentity: 'b' }] }])
})

test('a block is of the networks that its button counts, and a raise of the clients', () => {
  expect(actionsOf(row('network-denied', { networks: networks(12) })).overrides).toMatchObject([
    { effect: 'block', durationMs: 3_600_000, targets: networks(10).map((network) => ({ network })) },
  ])
  const identities = Array.from({ length: 99 }, (_, i) => `client-${i}`)
  expect(actionsOf(row('few-denied', { identities })).overrides).toMatchObject([
    {
      effect: 'raise',
      durationMs: 86_400_000,
      text: 'Raise the limit of 50 clients for 1 day',
      targets: identities.slice(0, 50).map((storedIdentity) => ({ storedIdentity })),
    },
  ])
})
