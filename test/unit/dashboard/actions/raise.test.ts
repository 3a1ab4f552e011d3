import { proposeRaise } from '../../../../src/dashboard/actions/raise.js'
import type { LimitRow } from '../../../../src/dashboard/figures/report.js'
import type { ShownClient } from '../../../../src/dashboard/figures/shown.js'

const row = (own: Partial<LimitRow> = {}): LimitRow => ({
  name: 'search',
  kind: 'fixed-window',
  limit: 50,
  windowMs: 10_000,
  isLocal: false,
  allowed: 0,
  denied: 0,
  peak: 1,
  ...own,
})
const client = (own: Partial<ShownClient> = {}): ShownClient => ({
  limitName: 'search',
  identity: 'acme',
  denied: 30,
  deniedPerSecond: 3,
  firstDeniedMs: 0,
  lastDeniedMs: 0,
  routes: [],
  addresses: 1,
  networks: [{ network: '192.0.2.0/24', denied: 30 }],
  ...own,
})
const demand = (peak: number, identity = 'acme') => ({
  limitName: 'search',
  limit: 50,
  windowMs: 10_000,
  fromMs: 0,
  toMs: 1,
  clients: 1,
  demands: [{ identity, peak, weight: 1, wasDenied: true }],
})
const target = { storedIdentity: 'acme' }
const known = { limits: [row()], denied: [client()], demands: [] }

test.each([
  ['its use and its denials in a window', known, 80],
  ['its largest demand, if that is larger', { ...known, demands: [demand(310)] }, 400],
  ['not what others asked for', { ...known, demands: [demand(310, 'other')] }, 80],
  [
    'not the denials of others',
    { ...known, denied: [client(), client({ identity: 'b', deniedPerSecond: 99 })] },
    80,
  ],
  ['more than the limit, though it is quiet now', { ...known, denied: [client({ deniedPerSecond: 0 })] }, 60],
  ['the largest number of a limit that has several', { ...known, limits: [row(), row({ limit: 70 })] }, 100],
  [
    'not the limit of the fallback store',
    { ...known, limits: [row(), row({ limit: 70, isLocal: true })] },
    80,
  ],
  ['all denials, where no time restores units', { ...known, limits: [row({ windowMs: null })] }, 80],
  ['a minute of a window that is longer', { ...known, limits: [row({ windowMs: 3_600_000 })] }, 250],
  [
    'the time that it was denied for, in a window that is longer',
    { ...known, limits: [row({ windowMs: 3_600_000 })], denied: [client({ lastDeniedMs: 120_000 })] },
    500,
  ],
  ['twice the limit, if it was not denied', { ...known, denied: [] }, 100],
])('a raise covers %s', (_, given, proposed) => {
  expect(proposeRaise(given, [target])).toMatchObject([{ limitName: 'search', proposed }])
})

test('a raise of a network covers its clients', () => {
  expect(proposeRaise(known, [{ network: '192.0.2.0/24' }])).toMatchObject([{ proposed: 80 }])
})

test('only the limits that denied are raised', () => {
  const limits = [row(), row({ name: 'burst', limit: 5 })]
  expect(proposeRaise({ ...known, limits }, [target]).map(({ limitName }) => limitName)).toEqual(['search'])
})
