import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { PackedProject } from './packed-project.js'
import { ROOT } from './run.js'

/** How an application imports each store of the table, and makes it. Without a code, a limiter makes its own. */
const STORES: Readonly<Record<string, readonly [imports: string, code?: string]>> = {
  memory: [''],
  ownerStore: ["import { ownerStore } from 'headgate/store'", 'ownerStore({})'],
  compareAndSwapStore: ["import { compareAndSwapStore } from 'headgate/store'", 'compareAndSwapStore({})'],
  denoKvStore: ["import { denoKvStore } from 'headgate/deno-kv'", 'denoKvStore({})'],
  durableObjectsStore: [
    `import { durableObjectsStore, limitsObject, slidingWindowKind } from 'headgate/durable-objects'
    export class LimitsObject extends limitsObject(slidingWindowKind) {}`,
    'durableObjectsStore({})',
  ],
  upstashStore: [
    "import { upstashStore } from 'headgate/upstash'",
    "upstashStore({ url: 'https://limits.upstash.io', token: 'token' })",
  ],
  redisStore: ["import { redisStore } from 'headgate/redis'", 'redisStore({})'],
}

/** The policies that an application may have besides a sliding window, and how it makes each. */
const FURTHER_POLICIES: Readonly<Record<string, string>> = {
  tokenBucket: "tokenBucket({ capacity: 100, refill: 100, every: '1m' })",
  fixedWindow: "fixedWindow({ limit: 100, window: '1m' })",
  slidingLog: "slidingLog({ limit: 100, window: '1m' })",
  quota: "quota({ limit: 100, per: 'day' })",
  consecutive: 'consecutive({ limit: 100 })',
  concurrency: "concurrency({ limit: 100, ttl: '1m' })",
  ban: "ban(policy, { after: 100, for: '1m' })",
}

/** Middleware, and the entry whose `overloadGuard` lies beside it. */
const MIDDLEWARE: readonly (readonly [name: string, specifier: string])[] = [
  ...['', '/fetch', '/hono', '/http', '/koa'].map((path) => ['rateLimit', `headgate${path}`] as const),
  ['loginGuard', 'headgate'],
  ['createLimiter', 'headgate/http'],
  ['rateLimitHook', 'headgate/fastify'],
  ['RateLimitModule', 'headgate/nest'],
]

/** How far below its bound a size may be, in kB, before the table has to be brought up to date. */
const SLACK_KB = 5

const HONO = readFileSync(join(ROOT, 'docs/hono.md'), 'utf8')

interface Size {
  readonly minified: number
  readonly gzipped: number
}

/** Tests that the table in the docs says how much a limiter adds to a Worker, and no less. */
export function describeBundleSizes(packed: Readonly<PackedProject>): void {
  const bounds = sizesIn(HONO)
  let hono: Size

  beforeAll(async () => {
    hono = await sizeOf(packed, "import { Hono } from 'hono'\nexport default new Hono()")
  })

  test('the docs have each store', () => {
    expect(Object.keys(bounds)).toEqual(Object.keys(STORES))
  })

  test.each(Object.entries(bounds))('one policy and %s add at most %j kB', async (store, bound) => {
    const [imports = '', code] = STORES[store] ?? []
    const whole = await sizeOf(packed, applicationOf(imports, code))
    for (const kind of ['minified', 'gzipped'] as const) {
      const added = (whole[kind] - hono[kind]) / 1000
      expect({ kind, added, isWithin: added <= bound[kind], isNear: added > bound[kind] - SLACK_KB }).toEqual(
        {
          kind,
          added,
          isWithin: true,
          isNear: true,
        },
      )
    }
  })

  test.each(MIDDLEWARE)('%s of %s bundles nothing of the overload guard', async (name, specifier) => {
    const program = (imported: string) =>
      `import { ${imported} } from '${specifier}'\nconsole.log(${imported})`
    const [alone, beside] = await Promise.all(
      [program(name), program('overloadGuard')].map((code) => overloadBytesOf(packed, code)),
    )
    expect({ alone, isBeside: beside !== undefined && beside > 10_000 }).toEqual({ alone: 0, isBeside: true })
  })

  test('the docs say how much each further policy adds', async () => {
    const [, least, most] = /Each further policy adds (\d+) to (\d+) kB/.exec(HONO) ?? []
    const base = await sizeOf(packed, applicationOf(''))
    const added = Object.entries(FURTHER_POLICIES).map(async ([name, code]) => {
      const imports = `import { ${name} } from 'headgate/hono'\nexport const further = () => rateLimit({ policy: ${code} })`
      return kilobytes((await sizeOf(packed, applicationOf(imports))).minified - base.minified)
    })
    const sizes = await Promise.all(added)
    expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([Number(least), Number(most)])
  })

  test('the docs say how much smaller an object of one kind makes a Worker', async () => {
    const sizeWith = async (name: string, declared: string) => {
      const imports = `import { durableObjectsStore, ${name} } from 'headgate/durable-objects'\n${declared}`
      return (await sizeOf(packed, applicationOf(imports, 'durableObjectsStore({})'))).minified
    }
    const whole = await sizeWith('LimitsObject', 'export { LimitsObject }')
    const ofOneKind = await sizeWith(
      'limitsObject, slidingWindowKind',
      'export class LimitsObject extends limitsObject(slidingWindowKind) {}',
    )
    const said = [
      /a Worker is up to (\d+) kB smaller/.exec(readPage('docs/stores/durable-objects.md')),
      /up to (\d+) kB smaller/.exec(readPage('src/stores/durable-objects/limits-object-of-kinds.ts')),
    ].map((match) => Number(match?.[1]))
    expect(said).toEqual(said.map(() => kilobytes(whole - ofOneKind)))
  })
}

const kilobytes = (bytes: number) => Math.round(bytes / 1000)

/** Returns a text without the line breaks in its sentences. */
const readPage = (path: string) => readFileSync(join(ROOT, path), 'utf8').replace(/\n(?: \* )?/g, ' ')

/** Returns the rows of the table of sizes, by their store. */
function sizesIn(page: string): Readonly<Record<string, Size>> {
  const rows = page.matchAll(/^\| `?(\w+)`?.* \| (\d+) kB \| (\d+) kB \|$/gm)
  return Object.fromEntries(
    Array.from(rows, ([, store = '', minified, gzipped]) => [
      store,
      { minified: Number(minified), gzipped: Number(gzipped) },
    ]),
  )
}

function applicationOf(imports: string, store?: string): string {
  return `
    import { Hono } from 'hono'
    import { rateLimit, slidingWindow } from 'headgate/hono'
    ${imports}
    const policy = slidingWindow({ limit: 100, window: '1m' })
    const app = new Hono()
    app.use(rateLimit({ policy${store === undefined ? '' : `, store: ${store}`} }))
    export default app`
}

/** Returns how many bytes of a server's bundle are those of the overload guard. */
async function overloadBytesOf({ project }: Readonly<PackedProject>, contents: string): Promise<number> {
  const { metafile } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['@nestjs/*'],
    write: false,
    metafile: true,
  })
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  const ofGuard = inputs.filter(([path]) => basename(path) === 'chunk-overload.js')
  return ofGuard.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
}

/** Returns the sizes of a bundle as tools for Workers make it, in bytes. */
async function sizeOf({ project }: Readonly<PackedProject>, contents: string): Promise<Size> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    write: false,
  })
  const [{ contents: code } = { contents: new Uint8Array() }] = outputFiles
  return { minified: code.length, gzipped: gzipSync(code).length }
}
