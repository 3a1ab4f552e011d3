import { searchDetail } from '../../../../src/dashboard/server/client-search.js'
import { client, detail } from './page-figures.js'

const CLIENTS = [
  client('203.0.113.7', { routes: [{ route: 'POST /login', denied: 1 }] }),
  client('ada', { label: 'Ada Lovelace', networks: [{ network: '198.51.100.0/24', denied: 1 }] }),
  client('key_1', { limitName: 'partner' }),
]

test.each<readonly [search: string, found: readonly string[]]>([
  ['', ['203.0.113.7', 'ada', 'key_1']],
  ['  ', ['203.0.113.7', 'ada', 'key_1']],
  ['113', ['203.0.113.7']],
  ['LOVELACE', ['ada']],
  ['post /log', ['203.0.113.7']],
  ['198.51.100.0/24', ['ada']],
  ['partner', ['key_1']],
  ['none', []],
])('%j finds %j', (search, found) => {
  const { denied, matching, deniedClients } = searchDetail(detail('api', CLIENTS), search)
  expect([denied.map(({ identity }) => identity), matching, deniedClients]).toEqual([found, found.length, 3])
})

test('of 10,000 clients, the 200 denied most are sent, and a search reaches the others', () => {
  const many = detail(
    'api',
    Array.from({ length: 10_000 }, (_, i) => client(`client-${i}`)),
  )
  expect(searchDetail(many, '').denied).toEqual(many.denied.slice(0, 200))
  expect(searchDetail(many, '')).toMatchObject({ matching: 10_000, deniedClients: 10_000 })
  expect(searchDetail(many, 'client-9999')).toMatchObject({
    denied: [{ identity: 'client-9999' }],
    matching: 1,
  })
})
