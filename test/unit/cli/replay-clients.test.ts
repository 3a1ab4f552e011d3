import { FIXED, LIMIT, line, replayLog, START_MS, useLogFolder } from './replay-logs.js'

useLogFolder()

describe('a client', () => {
  const json = (fields: object) => `${JSON.stringify({ time: START_MS, ip: '192.0.2.1', ...fields })}\n`
  const clientsOf = async (contents: string, key: string) => {
    const { limits } = await replayLog(contents, '--limit', '1', ...FIXED, '--key', key)
    return limits[0]?.mostDenied.map(({ client, requests }) => `${client} ${requests}`)
  }

  test.each([
    ['ip', '::ffff:192.0.2.1', ['192.0.2.1 2']],
    ['ip', '2001:db8::1', ['2001:db8::/56 2']],
    ['ip', 'Host.Example', ['host.example 2']],
    ['user', '192.0.2.1', ['anonymous:192.0.2.1 2']],
    ['path', '192.0.2.1', ['/ 2']],
    ['ip,path', '192.0.2.1', ['192.0.2.1 / 2']],
  ])('by %s, at the address %s, is %j', async (key, address, clients) => {
    expect(await clientsOf(line(0, address).repeat(2), key)).toEqual(clients)
  })

  test.each(['unix:', '-'])('by ip, logged as %s beside one with an address, is unknown', async (address) => {
    expect(await clientsOf(line(0, address).repeat(2) + line(1), 'ip')).toEqual(['unknown 2'])
  })

  test('by a field is each value of it, and each address without one', async () => {
    const values = [{ tenant: { id: 7 } }, { tenant: { id: 7 } }, { tenant: { id: '' } }, { tenant: 1 }, {}]
    expect(await clientsOf(values.map(json).join(''), 'field:tenant.id')).toEqual([
      'malformed:192.0.2.1 3',
      '7 2',
    ])
    expect(await clientsOf(json({ k: '-' }) + json({ k: '-', ip: '192.0.2.2' }), 'field:k')).toEqual([])
  })

  test('by several parts is none that joins them otherwise', async () => {
    const parts = [
      { a: 'x y', b: 'z' },
      { a: 'x', b: 'y z' },
      { a: 'x\\', b: 'z' },
      { a: 'x', b: '\\z' },
    ]
    const { clients } = await replayLog(parts.map(json).join(''), ...LIMIT, '--key', 'field:a,field:b')
    expect(clients).toBe(4)
  })

  test('without an address counts once for a request, however many parts read it', async () => {
    const contents = line(0, 'unix:') + line(1, 'unix:') + line(2)
    for (const key of ['ip', 'ip,user', 'user'])
      expect([key, (await replayLog(contents, ...LIMIT, '--key', key)).unknownAddresses]).toEqual([key, 2])
    expect((await replayLog(contents, ...LIMIT, '--key', 'path')).unknownAddresses).toBe(0)
  })
})

describe('--only', () => {
  test.each([
    [['POST /login'], 2],
    [['/login'], 3],
    [['GET /l*'], 2],
    [['/logs*', 'GET /other'], 2],
    [['post /login'], 2],
    [['/*'], 5],
    [['/'], 0],
  ])('%j counts %i of the requests', async (routes, requests) => {
    const sent = ['POST /login', 'POST /login?a', 'GET /login', 'GET /logs', 'GET /other']
    const contents = sent.map((each) => line(0, '192.0.2.1', `${each} HTTP/1.1`)).join('')
    const report = await replayLog(contents, ...LIMIT, ...routes.flatMap((route) => ['--only', route]))
    expect([report.requests, report.skipped]).toEqual([requests, 5 - requests])
  })
})
