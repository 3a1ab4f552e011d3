import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { printTable, whole } from './harness/table.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What an application imports and uses, and how many bytes that may add to its bundle. */
const IMPORTS: readonly (readonly [what: string, code: string, goal?: number])[] = [
  ['headgate, unused', "import { tokenBucket } from 'headgate'", 0],
  ['headgate, tokenBucket', "import { tokenBucket } from 'headgate'; console.log(tokenBucket)", 6_000],
  ['headgate, createLimiter', "import { createLimiter } from 'headgate'; console.log(createLimiter)"],
  ['headgate, rateLimit', "import { rateLimit } from 'headgate'; console.log(rateLimit)", 90_000],
  ['headgate, loginGuard', "import { loginGuard } from 'headgate'; console.log(loginGuard)"],
  ['headgate/fetch, rateLimit', "import { rateLimit } from 'headgate/fetch'; console.log(rateLimit)"],
  [
    'headgate/redis, redisStore',
    "import { redisStore } from 'headgate/redis'; console.log(redisStore)",
    40_000,
  ],
  [
    'headgate, rateLimit and redisStore',
    "import { rateLimit } from 'headgate'; import { redisStore } from 'headgate/redis'; console.log(rateLimit, redisStore)",
  ],
  ['express-rate-limit', "import { rateLimit } from 'express-rate-limit'; console.log(rateLimit)"],
]

/** How many bytes an import adds to a bundle of esbuild, minified. */
export async function benchBundleSizes(): Promise<void> {
  const rows: string[][] = []
  for (const [what, contents, goal] of IMPORTS) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: ROOT },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      write: false,
      tsconfigRaw: {}, // without the paths of this checkout, so that the build is what is measured
    })
    const bytes = outputFiles[0]?.contents.length ?? Number.NaN
    const verdict = goal === undefined ? '' : bytes <= goal ? 'reached' : 'NOT reached'
    rows.push([what, whole(bytes), goal === undefined ? '-' : whole(goal), verdict])
  }
  printTable('In a bundle of esbuild, minified: what an import adds', ['import', 'bytes', 'goal', ''], rows)
}
