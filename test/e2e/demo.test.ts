import { type AddressInfo, createServer } from 'node:net'
import type { Bundle } from '../support/servers/bundle.js'
import { bundleDemo, type DemoProcess, startDemo } from './demo-process.js'

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

  async function expectStops(demo: DemoProcess, signal: NodeJS.Signals): Promise<void> {
    const url = await demo.listening()
    expect(demo.printed.out).toContain(`curl -s -o /dev/null -w '%{http_code}\\n' '${url}/api/time?[1-25]'`)
    expect((await fetch(`${url}/api/time?1`)).status).toBe(200)
    expect(await demo.stop(signal)).toBe(0)
    expect(demo.printed.err).toBe('')
  }

  test('prints its address and a curl line, and SIGINT stops it', () => expectStops(start('0'), 'SIGINT'))

  test('prints its address and a curl line, and SIGTERM stops it', () =>
    expectStops(start('0', bundled), 'SIGTERM'))

  test('ends with code 1, and prints on stderr what is wrong with its settings', async () => {
    const { ended, printed } = start('-1', bundled)
    expect(await ended).toBe(1)
    expect(printed.err).toMatch(/^PORT must be .*, got "-1"\.\n$/)
  })

  test('says what to do when its port is in use', async () => {
    const other = createServer().listen(0)
    cleanups.push(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { ended, printed } = start(String(port), bundled)
    expect(await ended).toBe(1)
    expect(printed.err).toBe(`Port ${port} is in use. Choose another one: PORT=3001 npm start\n`)
  })
})
