import { networkNotes, networkWarnings } from '../../../../src/dashboard/actions/network-warnings.js'
import type { LimitDemand } from '../../../../src/tuning/client-demand.js'

const demand = (
  ...clients: readonly (readonly [identity: string, wasDenied?: boolean, weight?: number])[]
): LimitDemand => ({
  limitName: 'api',
  limit: 60,
  windowMs: 60_000,
  fromMs: 0,
  toMs: 1,
  clients: clients.length,
  demands: clients.map(([identity, wasDenied = false, weight = 1]) => ({
    identity,
    peak: 1,
    weight,
    wasDenied,
  })),
})
const network = '203.0.113.0/24'
const around = { operatorAddress: '198.51.100.1', demands: [], denied: new Set<string>() }

test.each([
  [
    'nothing, if only denied clients are in it',
    network,
    { demands: [demand(['203.0.113.1', true], ['192.0.2.1'])] },
    [],
  ],
  [
    'allowed clients',
    network,
    { demands: [demand(['203.0.113.1'], ['203.0.113.2'], ['203.0.114.1'])] },
    ['2 clients in 203.0.113.0/24 have had no denials in the last 12 to 24 hours.'],
  ],
  [
    'clients that a sample stands for',
    network,
    { demands: [demand(['203.0.113.1', false, 40])] },
    ['40 clients in 203.0.113.0/24 have had no denials in the last 12 to 24 hours.'],
  ],
  [
    'a client that one of two limits denied: no',
    network,
    { demands: [demand(['203.0.113.1']), demand(['203.0.113.1', true])] },
    [],
  ],
  [
    'one client, in IPv6',
    '2001:db8::/48',
    { demands: [demand(['2001:db8:0:100::/56'])] },
    ['1 client in 2001:db8::/48 has had no denials in the last 12 to 24 hours.'],
  ],
  [
    'the address of the operator',
    network,
    { operatorAddress: '203.0.113.9' },
    ['203.0.113.0/24 contains your own address, 203.0.113.9.'],
  ],
  [
    'everyone',
    '0.0.0.0/0',
    {},
    ['0.0.0.0/0 contains your own address, 198.51.100.1.', '0.0.0.0/0 has 4,294,967,296 addresses.'],
  ],
  ['most of IPv6', '2000::/3', {}, ['2000::/3 has 2^125 addresses.']],
  [
    'no client that is denied at present',
    network,
    { demands: [demand(['203.0.113.1'], ['203.0.113.2', true])], denied: new Set(['203.0.113.1']) },
    [],
  ],
])('warns of %s', (_, text, own, expected) => {
  expect(networkWarnings([{ network: text }], { ...around, ...own })).toEqual(expected)
  expect(networkWarnings([{ identity: text }], { ...around, ...own })).toEqual(expected)
})

test('warns of no client', () => {
  expect(networkWarnings([{ storedIdentity: '203.0.113.9' }, { identity: 'ada' }], around)).toEqual([])
})

test.each([
  ['nothing, where clients are addresses', [demand(['192.0.2.1'])], []],
  ['nothing, where there are no clients', [], []],
  [
    'who else is in a network, for a limiter of users',
    [demand(['0123456789abcdefghij_-'])],
    [
      'This limiter does not count by IP address, so the page cannot tell which other clients are in 203.0.113.0/24.',
    ],
  ],
  [
    'who else is in a network, if that could not be read',
    undefined,
    ['The other clients in 203.0.113.0/24 could not be read.'],
  ],
])('notes that it does not know %s', (_, demands, expected) => {
  expect(networkNotes([{ network }, { storedIdentity: 'ada' }], { ...around, demands })).toEqual(expected)
})
