import { type Case, testTogether } from '../../support/servers/together.js'
import { nodeOf } from './nodes.js'
import type { PackedProject } from './packed-project.js'
import {
  type Compiled,
  compileOnExpress4,
  compileSamples,
  ON_EXPRESS,
  SAMPLES,
  type Sample,
} from './samples.js'
import { LIMIT, visit } from './visit.js'

const HOUR = 3600

/** What the client of each sample sees: `LIMIT` requests are allowed at once, and then `LIMIT` an hour. */
export const LIMITED = {
  statuses: [...Array(LIMIT).fill(200), 429],
  limits: Array(LIMIT + 1).fill(String(LIMIT)),
  remaining: ['4', '3', '2', '1', '0', '0'],
  resets: [1, 2, 3, 4, 5, 5].map((units) => expect.closeTo((units * HOUR) / LIMIT, -2)),
  retryAfter: [...Array(LIMIT).fill(null), expect.stringMatching(/^7[012]\d$/)],
  end: { code: 0, signal: null, stderr: '' },
}

/** Compiles the servers in `samples/` with TypeScript, and runs them on several versions of Node.js. */
export function describeSamples(packed: PackedProject, majors: readonly string[]): void {
  const all = once(() => compileSamples(packed))
  const onExpress4 = once(() => compileOnExpress4(packed))

  const compiles = (title: string, compiled: () => Promise<Compiled>): Case => [
    title,
    async () => expect((await compiled()).errors).toBe(''),
  ]

  const limits = (
    major: string,
    title: string,
    { args }: Sample,
    compiled: () => Promise<Compiled>,
  ): Case => [
    `Node ${major}: ${title}`,
    async () => {
      const node = await nodeOf(major)
      const { folder } = await compiled()
      expect(await visit(node.path, args, folder)).toEqual(LIMITED)
    },
  ]

  testTogether(
    [
      compiles('TypeScript compiles them in strict mode', all),
      compiles('TypeScript compiles those for Express with Express 4', onExpress4),
      ...majors.flatMap((major) => [
        ...SAMPLES.map((sample) => limits(major, sample.name, sample, all)),
        ...ON_EXPRESS.map((sample) => limits(major, `${sample.name} on Express 4`, sample, onExpress4)),
      ]),
    ],
    { atOnce: 2, timeoutMs: 300_000 },
  )
}

/** Returns a function that calls `make` once, and always returns that result. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
