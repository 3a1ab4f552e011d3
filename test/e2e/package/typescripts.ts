import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Checker, startChecker } from './checker.js'
import { fetchLocked, fetchPackages } from './fetched.js'
import { ROOT, run } from './run.js'

/** A TypeScript, with the packages that a project with it has. */
export interface TypeScript {
  readonly version: string
  /** Where a package lies that fixtures see. */
  readonly folderOf: (name: string, neighbours?: keyof typeof NEIGHBOURS) => Promise<string>
  /** Type-checks a project. Returns its errors. */
  readonly check: (project: string) => Promise<string>
}

const own = join(ROOT, 'node_modules')
const { version } = JSON.parse(readFileSync(join(own, 'typescript/package.json'), 'utf8'))

/** The version of this checkout. */
export const CURRENT = version.split('.', 2).join('.')

/** The oldest version that the types support. */
export const OLDEST = '5.4'

/** The versions before it that are tried. TYPESCRIPTS names others, such as '5.4 6.0'. */
export const OLDER: readonly string[] = (process.env.TYPESCRIPTS ?? OLDEST).split(' ')

/** The types of Express 4, of the oldest Node.js that the package supports, and of other platforms. */
const PACKAGES = {
  '@cloudflare/workers-types': '5.20261117.1',
  '@types/deno': '2.7.0',
  'types-express-4': 'npm:@types/express@4.17.25',
  '@types/express-serve-static-core': '4.19.9',
  '@types/node': '20.12.14',
}

const AWS_SDK = '@aws-sdk/client-dynamodb'
/** The packages that the tests of DynamoDB fetch. */
const AWS_PACKAGES = join(ROOT, 'test/integration/dynamodb/packages')

/**
 * What projects have beside the package: each neighbour at one end of the range that the types support. The
 * oldest are the least versions that the docs and package.json name.
 */
export const NEIGHBOURS = {
  oldest: {
    '@types/node': '20.17.10', // the first for TypeScript 5.7 and later
    '@types/express': '4.17.13',
    '@types/express-serve-static-core': '4.19.9',
    '@types/connect': '3.4.38',
    '@types/koa': '2.13.0',
    '@types/koa__router': '12.0.5',
    '@types/memjs': '1.3.0',
    '@types/pg': '8.6.0',
    '@nestjs/common': '10.0.0',
    '@nestjs/core': '10.0.0',
    '@nestjs/platform-express': '10.0.0',
    '@opentelemetry/api': '1.3.0',
    'fast-check': '3.0.0',
    fastify: '4.0.0',
    hono: '4.0.0',
    ioredis: '5.3.0',
    iovalkey: '0.1.0',
    mysql2: '3.5.0',
    'prom-client': '14.0.0',
    redis: '5.0.0',
    'reflect-metadata': '0.1.13',
    rxjs: '7.8.1',
  },
  newest: {
    '@types/node': '26.6.7',
    '@types/express': '5.0.6',
    '@types/connect': '3.4.38',
    '@types/koa': '3.0.3',
    '@types/koa__router': '12.0.5',
    '@types/memjs': '1.3.3',
    '@types/pg': '8.23.1',
    '@nestjs/common': '12.5.1',
    '@nestjs/core': '12.5.1',
    '@nestjs/platform-express': '12.5.1',
    '@opentelemetry/api': '1.10.0',
    'fast-check': '4.10.2',
    fastify: '5.12.8',
    hono: '4.13.19',
    ioredis: '6.0.0',
    iovalkey: '0.4.0',
    mysql2: '3.24.6',
    'prom-client': '15.1.3',
    redis: '6.3.1',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.2',
  },
} as const

const compilers = Object.fromEntries(
  [...new Set([OLDEST, ...OLDER])].map((each) => [`typescript-${each}`, `npm:typescript@~${each}.0`]),
)
let fetching: Promise<string> | undefined

/** Returns a version of TypeScript, which is fetched at most once. */
export async function typescriptOf(version: string): Promise<TypeScript> {
  fetching ??= fetchPackages('typescripts', { ...compilers, ...PACKAGES })
  const fetched = join(await fetching, 'node_modules')
  const compiler = version === CURRENT ? join(own, 'typescript') : join(fetched, `typescript-${version}`)
  const hasOldNode = /^5\.[4-6]$/.test(version) // from 5.7 on, Buffer is generic
  const isFetched = (name: string) => name in PACKAGES && (name !== '@types/node' || hasOldNode)

  return {
    version,
    async folderOf(name, neighbours) {
      if (neighbours !== undefined)
        return inFolder(fetchPackages(`${neighbours}-neighbours`, NEIGHBOURS[neighbours]), name)
      if (name === AWS_SDK) return inFolder(fetchLocked('dynamodb', AWS_PACKAGES), name)
      return join(isFetched(name) ? fetched : own, name)
    },
    check: (project) => (version === CURRENT ? checkByTsc : checkInProcess)(compiler, project),
  }
}

async function inFolder(folder: Promise<string>, name: string): Promise<string> {
  return join(await folder, 'node_modules', name)
}

async function checkByTsc(compiler: string, project: string): Promise<string> {
  // More than one thread takes twice the work: each resolves the same types.
  const args = [join(compiler, 'bin/tsc'), '-p', project, '--pretty', 'false', '--singleThreaded']
  const { code, stdout, stderr } = await run(process.execPath, args, project)
  if (code !== 0 && stdout === '') throw new Error(`TypeScript failed: ${stderr}`)
  return stdout
    .split(/^(?=\S)/m)
    .filter((error) => !ELSEWHERE.test(error))
    .join('')
}

/** Errors in the types of other packages are not this package's. */
const ELSEWHERE = /^[^:(]*\.cache[^:(]*\(/

const checkers = new Map<string, Checker>()

/** Checks a project in the one process that checks all of a TypeScript in JavaScript. */
function checkInProcess(compiler: string, project: string): Promise<string> {
  const checker = checkers.get(compiler) ?? startChecker(compiler)
  checkers.set(compiler, checker)
  return checker.check(project)
}

/** Ends the processes that check. */
export function endCheckers(): void {
  for (const checker of checkers.values()) checker.end()
  checkers.clear()
}
