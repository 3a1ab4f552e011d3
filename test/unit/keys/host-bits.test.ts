import { byIp, createLimiter } from 'headgate'

const RANGES = [
  ['10.1.2.3/8', "'10.0.0.0/8' for the network, or '10.1.2.3' for the address"],
  ['192.0.2.7/31', "'192.0.2.6/31' for the network, or '192.0.2.7' for the address"],
  ['203.0.113.7/0', "'0.0.0.0/0' for the network, or '203.0.113.7' for the address"],
  ['2001:db8::1/32', "'2001:db8::/32' for the network, or '2001:db8::1' for the address"],
  ['2001:DB8:0:1::/56', "'2001:db8::/56' for the network, or '2001:DB8:0:1::' for the address"],
  ['::ffff:10.1.2.3/104', "'::ffff:a00:0/104' for the network, or '::ffff:10.1.2.3' for the address"],
] as const

describe.each(RANGES)('%s, whose address has bits after its prefix', (range, fix) => {
  const problem = (owner: string, option: string) =>
    `${owner}: each entry of ${option} must be a network or an address, got "${range}". Write ${fix}.`
  const lists = ['10.0.0.0/8', range]

  test.each(['allow', 'block'])('is an error in %s', (option) => {
    const options = { name: 'api', limit: 5, window: '1m', key: String, [option]: lists } as never
    expect(() => createLimiter(options)).toThrow(problem('createLimiter', option))
  })

  test('is an error in the addresses of proxies', () => {
    expect(() => byIp({ trustProxy: lists })).toThrow(problem('byIp', 'trustProxy'))
    expect(() => byIp({ trustProxy: `loopback, ${range}` })).toThrow(problem('byIp', 'trustProxy'))
    expect(() => byIp({ header: 'cf-connecting-ip', from: lists })).toThrow(problem('byIp', 'from'))
  })
})

test('a NAT64 prefix with such bits is an error', () => {
  expect(() => byIp({ nat64: ['2001:db8:64::1/96'] })).toThrow(
    'byIp: each entry of nat64 must be a network or an address, got "2001:db8:64::1/96". Write ' +
      "'2001:db8:64::/96' for the network, or '2001:db8:64::1' for the address.",
  )
})

test.each([
  '10.0.0.0/8',
  '192.0.2.7/32',
  '192.0.2.7',
  '0.0.0.0/0',
  '::/0',
  '2001:db8::/32',
  '::1/128',
  'fe80::1%eth0',
])('an entry without such bits is not: %s', (entry) => {
  const options = { name: 'api', limit: 5, window: '1m', key: String, block: [entry] }
  expect(() => createLimiter(options)).not.toThrow()
})
