import { ipv4Number, ipv4Text } from '../../../src/cli/log/ipv4-number.js'
import { ClientTable } from '../../../src/cli/replay/client-table.js'
import { parseAddress } from '../../../src/keys/address.js'

test('clients have numbers in the order of their first requests, whatever identifies them', () => {
  const table = new ClientTable()
  const identities = ['0.0.0.0', 'user:ada', '255.255.255.255', '2001:db8::/56', '1.2.3.4', '', '01.2.3.4']
  const ids = [...identities, ...identities].map((identity) => table.idOf(identity))
  expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6])
  expect(table.size).toBe(7)
  expect(table.identitiesOf(new Set([0, 2, 5, 6]))).toEqual(
    new Map([0, 2, 5, 6].map((id) => [id, identities[id]])),
  )
})

test('many addresses, also those that differ only in their first part, keep their numbers', () => {
  const table = new ClientTable()
  const addresses = Array.from({ length: 20_000 }, (_, i) =>
    i % 2 === 0 ? ipv4Text(i * 65_536) : ipv4Text(2 ** 31 + i),
  )
  const first = addresses.map((address) => table.idOf(address))
  const second = addresses.map((address) => table.idOf(address))
  expect(first).toEqual(addresses.map((_, i) => i))
  expect(second).toEqual(first)
  expect(table.identitiesOf(new Set([19_998])).get(19_998)).toBe(addresses[19_998])
})

test('only the usual spelling of an IPv4 address is a number', () => {
  const texts = [
    ...['1.2.3.4', '0.0.0.0', '255.255.255.255', '10.0.0.1', '256.0.0.1', '1.2.3', '1.2.3.4.5', '1.2.3.'],
    ...[
      '01.2.3.4',
      '1.2.3.00',
      '.1.2.3',
      '1..2.3',
      '1.2.3.4 ',
      '1.2.3.x',
      '',
      '1.2.3.4:80',
      '::1',
      '9999999',
    ],
  ]
  const usual = texts.filter((text) => /^[\d.]+$/.test(text) && parseAddress(text) === text)
  expect(texts.filter((text) => ipv4Number(text) >= 0)).toEqual(usual)
  expect(usual.map((text) => ipv4Text(ipv4Number(text)))).toEqual(usual)
})
