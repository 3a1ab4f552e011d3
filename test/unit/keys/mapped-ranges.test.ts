import { rateLimit } from 'headgate'
import { parseAddress } from '../../../src/keys/address.js'
import { addressList } from '../../../src/keys/address-list.js'
import { requestAndResponse } from '../../support/request-response.js'

const listed = (entry: string, address: string) =>
  addressList('rateLimit', 'allow', [entry])(parseAddress(address))

/** Spellings of 1.2.3.4 as an IPv6 address. */
const SPELLINGS = [
  '::ffff:1.2.3.4',
  '::ffff:102:304',
  '::FFFF:0102:0304',
  '0:0:0:0:0:ffff:102:304',
  '0:0:0:0:0:ffff:1.2.3.4',
  '0000:0000:0000:0000:0000:ffff:0102:0304',
]

describe.each(SPELLINGS)('%s, an IPv4 address spelt as IPv6,', (spelling) => {
  test('is that address, with or without all of its 128 bits', () => {
    for (const entry of [spelling, `${spelling}/128`]) {
      expect(listed(entry, '1.2.3.4')).toBe(true)
      expect(listed(entry, '::ffff:1.2.3.4')).toBe(true)
      expect(listed(entry, '1.2.3.5')).toBe(false)
    }
  })

  test.each(['0', '24', '32', '64', '95', '129'])('is an error with a prefix of %s bits', (bits) => {
    expect(() => addressList('rateLimit', 'allow', [`${spelling}/${bits}`])).toThrow(TypeError)
    expect(() => addressList('rateLimit', 'allow', [`${spelling}/${bits}`])).toThrow(
      `got "${spelling}/${bits}"`,
    )
  })
})

test.each(['::ffff:1.2.3.0/120', '::FFFF:0102:0300/120', '0:0:0:0:0:ffff:1.2.3.0/120'])(
  '%s is a range of IPv4 addresses',
  (range) => {
    expect(['1.2.3.255', '1.2.4.0'].map((address) => listed(range, address))).toEqual([true, false])
  },
)

test('allow accepts a range of mapped addresses, and lets its client pass uncounted', () => {
  const limiter = rateLimit({ limit: 1, window: '1h', allow: ['0:0:0:0:0:ffff:c000:201/128'] })
  const next = jest.fn()
  for (let i = 0; i < 3; i++) {
    const { req, res } = requestAndResponse() // from 192.0.2.1
    limiter(req, res, next)
    expect(req.rateLimit).toBeUndefined()
  }
  expect(next).toHaveBeenCalledTimes(3)
})
