import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { type BuildOptions, build } from 'esbuild'
import { ENTRIES } from './entries.js'
import { ROOT } from './run.js'

/** The entries that use a driver, a framework or a service of Node.js. All others run on any platform. */
const OF_NODE = [
  ...[
    'cluster',
    'dashboard',
    'express-rate-limit',
    'fastify',
    'koa',
    'memcached',
    'metrics',
    'mysql',
    'nest',
  ],
  ...['postgres', 'settings-file', 'sqlite'],
]
const EDGE_ENTRIES = ENTRIES.map(({ name }) => name).filter((name) => !OF_NODE.includes(name))

/** What only Node.js has. A free identifier with such a name gets another one, which is found in the bundle. */
const GLOBALS = ['process', 'Buffer', 'setImmediate', 'clearImmediate', 'require', 'global', '__dirname']

async function bundle(entry: string, options: BuildOptions = {}) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, `src/${entry}.ts`)],
    bundle: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['fast-check', 'cloudflare:workers'], // one is loaded when the kit runs, one is there
    format: 'esm',
    logLevel: 'silent',
    ...options,
    write: false,
    metafile: true,
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  return { code: outputFiles[0]?.text ?? '', imports: imports.map(({ path }) => path) }
}

test.each(EDGE_ENTRIES)(
  '%s is bundled without a module of Node.js, and names none of its globals',
  async (entry) => {
    const define = Object.fromEntries(GLOBALS.map((name) => [name, `only_node_has_${name}`]))
    const { code, imports } = await bundle(entry, { define }) // rejects if a module is not found
    expect(code.length).toBeGreaterThan(1000)
    expect(code.match(/only_node_has_\w+/g) ?? []).toEqual([])
    expect(imports.filter((path) => !/^(?:fast-check|cloudflare:workers)$/.test(path))).toEqual([])
  },
)

/** Returns a context that has what the web has, as Workers do. All that they refuse at import throws until `start`. */
function worker() {
  let isStarted = false
  const refuse = <F extends (...args: never[]) => unknown>(name: string, call: F) =>
    ((...args: Parameters<F>) => {
      if (!isStarted) throw new Error(`${name} is not allowed while modules load`)
      return call(...args)
    }) as F
  const { AbortController, AbortSignal, Event, EventTarget, Headers, Request, Response } = globalThis
  const { TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, console, fetch } = globalThis
  const web = { AbortController, AbortSignal, Event, EventTarget, Headers, Request, Response, TextDecoder }
  const context = createContext({
    ...{ ...web, TextEncoder, URL, URLSearchParams, atob, btoa, console },
    fetch: refuse('fetch', fetch),
    queueMicrotask,
    setTimeout: refuse('setTimeout', (callback: () => void, ms?: number) => Number(setTimeout(callback, ms))),
    setInterval: refuse('setInterval', (callback: () => void, ms?: number) =>
      Number(setInterval(callback, ms)),
    ),
    clearTimeout: refuse('clearTimeout', (timer: number) => clearTimeout(timer)),
    clearInterval: refuse('clearInterval', (timer: number) => clearInterval(timer)),
    crypto: {
      getRandomValues: refuse('getRandomValues', (array: Uint8Array<ArrayBuffer>) =>
        crypto.getRandomValues(array),
      ),
      randomUUID: refuse('randomUUID', () => crypto.randomUUID()),
    },
    performance: {
      now: refuse('performance.now', () => performance.now()),
      get timeOrigin() {
        return refuse('performance.timeOrigin', () => performance.timeOrigin)()
      },
    },
    refuse,
  })
  const refuseClocks = `
    const RealDate = Date
    Date = class extends RealDate {
      constructor(...args) { super(...(args.length > 0 ? args : [Date.now()])) }
    }
    Date.now = refuse('Date.now', () => RealDate.now())
    Math.random = refuse('Math.random', Math.random)`
  runInContext(refuseClocks, context)
  const start = () => {
    isStarted = true
  }
  return { run: (code: string): unknown => runInContext(code, context), start }
}

const asGlobal: BuildOptions = { format: 'iife', globalName: 'headgate', target: 'es2022' }

test.each(EDGE_ENTRIES)('%s is imported without a clock, a timer or a random number', async (entry) => {
  const { run } = worker()
  run((await bundle(entry, asGlobal)).code)
  expect(run('Object.keys(headgate).length')).toBeGreaterThan(0)
})

test('the context would find a clock, a timer and a random number', () => {
  const { run, start } = worker()
  const calls = [
    ...['Date.now()', 'new Date()', 'performance.now()', 'performance.timeOrigin', 'Math.random()'],
    ...['setTimeout(() => {}, 1)', 'crypto.randomUUID()', 'crypto.getRandomValues(new Uint8Array(1))'],
  ]
  for (const call of calls) expect(() => run(call)).toThrow('is not allowed while modules load')
  start()
  for (const call of calls) run(call)
})

const SERVER = `
  const seen = []
  const limit = headgate.rateLimit({
    name: 'api', limit: 2, window: '1m', store: headgate.memoryStore(), key: () => 'žofie',
  })
  limit.limiter.events.on('denied', ({ limitName }) => seen.push(limitName))
  const guard = headgate.loginGuard({
    name: 'login', field: 'username', path: '/login', deviceCookie: { secret: 'only for this test' },
  })
  const ask = async () => {
    const { status } = await limit.handle(new Request('https://example.com/'), {}, () => new Response('hello'))
    return status
  }
  const logIn = async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"username":"žofie"}' }
    const request = new Request('https://example.com/login', init)
    const info = { ip: '192.0.2.1', body: { username: 'žofie' } }
    const response = await guard.handle(request, info, () => new Response('hello'))
    return [response.status, /^__Host-|headgate/.test(response.headers.get('set-cookie') ?? '')]
  }
  const answers = async () => [[await ask(), await ask(), await ask()], await logIn(), seen]`

test('a server is created while modules load, and decides by the portable versions', async () => {
  const { run, start } = worker()
  run((await bundle('fetch', asGlobal)).code)
  run(SERVER)
  start()
  expect(JSON.parse(JSON.stringify(await run('answers()')))).toEqual([[200, 200, 429], [200, true], ['api']])
})
