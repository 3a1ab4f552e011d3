import { type AddressInfo, createServer } from 'node:net'
import type { Bundle } from '../support/servers/bundle.js'
import { bundleDemo, startDemo } from './demo-process.js'

jest.setTimeout(60_000)

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('npm start', () => {
  let bundled: Bundle

  beforeAll(async () => {
    bundled = await bundleDemo()
  })

  afterAll(() => bundled?.remove())

  function start(PORT: string, program?: Bundle) {
    const demo = startDemo({ PORT }, program)
    cleanups.push(() => demo.stop('SIGKILL'))
    return demo
  }

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints its address and a curl line, and %s stops it',
    async (signal) => {
      const demo = start('0')
      const url = await demo.listening()
      expect(demo.printed.out).toContain(`curl -s -o /dev/null -w '%{http_code}\\n' '${url}/api/time?[1-25]'`)
      expect((await fetch(`${url}/api/time?1`)).status).toBe(200)
      expect(await demo.stop(signal)).toBe(0)
      expect(demo.printed.err).toBe('')
    },
  )

  test('says what to do when its port is in use', async () => {
    const other = createServer().listen(0)
    cleanups.push(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { ended, printed } = start(String(port), bundled)
    expect(await ended).toBe(1)
    expect(printed.err).toBe(`Port ${port} is in use. Choose another one: PORT=3001 npm start\n`)
  })

  test.each(['http', '65536', '-1', '3000.5', '0x50'])('refuses PORT=%s', async (value) => {
    const { ended, printed } = start(value, bundled)
    expect(await ended).toBe(1)
    const must = 'PORT must be a whole number from 0 to 65535 (0 = any free port)'
    expect(printed.err).toBe(`${must}, got "${value}".\n`)
  })
})
