import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mustRun } from './run.js'
import { NEIGHBOURS, type TypeScript } from './typescripts.js'

export const FIXTURES = join(__dirname, 'type-fixtures')

/** A project that uses the package, and has nothing installed beside it but what is listed. */
export interface TypeProject {
  readonly name: string
  /** Folders and files of `type-fixtures`. */
  readonly fixtures: readonly string[]
  /** What is installed: packages, or where another one lies that is installed under a name. */
  readonly installed: Readonly<Record<string, string>>
  readonly compilerOptions?: object
  /** Where all that is installed lies, if not in this checkout: one end of the supported ranges. */
  readonly neighbours?: keyof typeof NEIGHBOURS
}

const installed = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

const EXPRESS = installed('@types/node', '@types/express', '@types/connect')
const DRIVERS = installed('ioredis', 'iovalkey', 'redis', '@types/memjs', 'mysql2', '@types/pg')

function onDriver(file: string, driver: string, source = driver): TypeProject {
  return {
    name: source,
    fixtures: [`stores/${file}`],
    installed: { '@types/node': '@types/node', [driver]: source },
  }
}

const EXPRESS_5: TypeProject = { name: 'Express 5', fixtures: ['express'], installed: EXPRESS }

const EXPRESS_4: TypeProject = {
  name: 'Express 4',
  fixtures: ['express'],
  installed: { ...EXPRESS, '@types/express': 'types-express-4' },
}

const FASTIFY: TypeProject = {
  name: 'Fastify 5',
  fixtures: ['fastify'],
  installed: installed('@types/node', 'fastify'),
}

const HTTP: TypeProject = {
  name: 'node:http',
  fixtures: ['http'],
  installed: installed('@types/node'),
}

/** Emits declarations, as libraries do. The types of Express lie where only links lead, as with pnpm. */
const DECLARATIONS: TypeProject = {
  name: 'declarations',
  fixtures: ['declarations'],
  installed: EXPRESS,
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: '.',
    outDir: 'out',
  },
}

/** Imports the package in one file and requires it in another. */
const BOTH: TypeProject = { ...EXPRESS_5, name: 'an ES module beside CommonJS', fixtures: ['both'] }

/** @types/koa 3.0.3 names a type that content-disposition 2 no longer has. */
const KOA: TypeProject = {
  name: 'Koa',
  fixtures: ['koa'],
  installed: installed('@types/node', '@types/koa', '@koa/router'),
  compilerOptions: { skipLibCheck: true },
}

const HONO: TypeProject = {
  name: 'Hono',
  fixtures: ['hono'],
  installed: installed('@types/node', 'hono'),
  compilerOptions: { skipLibCheck: true },
}

/** What runs on any platform, without the types of Node.js. */
const EDGE: TypeProject = {
  name: 'a Worker and stores without the types of Node.js',
  fixtures: ['edge/worker.ts', 'edge/stores.ts'],
  installed: installed('@upstash/redis'),
  compilerOptions: { lib: ['es2023', 'webworker'], types: [] },
}

/** Hono's types name those of the DOM. */
const HONO_EDGE: TypeProject = {
  ...EDGE,
  name: 'Hono without the types of Node.js',
  fixtures: ['edge/hono.ts'],
  installed: installed('hono'),
  compilerOptions: { lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
}

/** Cloudflare's types stand in for those of the DOM, which they contradict. */
const CLOUDFLARE: TypeProject = {
  name: "a Worker with Cloudflare's types",
  fixtures: ['edge/cloudflare.ts'],
  installed: installed('@cloudflare/workers-types', 'hono'),
  compilerOptions: { lib: ['es2023'], types: ['@cloudflare/workers-types'] },
}

/** Deno's types of what it shares with browsers name those of the DOM. */
const DENO: TypeProject = {
  name: "a server with Deno's types",
  fixtures: ['edge/deno.ts'],
  installed: installed('@types/deno'),
  compilerOptions: { lib: ['esnext', 'dom', 'dom.iterable', 'dom.asynciterable'], types: ['deno'] },
}

/** A server that has the types of Node.js, and none of Express. */
const DYNAMODB: TypeProject = {
  name: 'DynamoDB',
  fixtures: ['dynamodb'],
  installed: installed('@types/node', '@aws-sdk/client-dynamodb'),
}

/** The entry imports nothing of Nest. `besideAll` has a whole application. */
const NEST: TypeProject = {
  name: 'Nest',
  fixtures: ['nest/application.ts'],
  installed: installed('@types/node'),
  compilerOptions: { experimentalDecorators: true },
}

/** All drivers at once; `SEPARATE` has each alone. */
const ALL_DRIVERS: TypeProject = {
  name: 'all drivers',
  fixtures: ['stores'],
  installed: { '@types/node': '@types/node', ...DRIVERS },
  compilerOptions: { skipLibCheck: true },
}

/** All entries beside the oldest, or the newest, of the packages that they support. */
const besideAll = (neighbours: keyof typeof NEIGHBOURS): TypeProject => ({
  name: `all entries beside the ${neighbours} packages`,
  fixtures: ['express', 'fastify', 'koa', 'hono', 'nest', 'http', 'stores', 'operators'],
  installed: installed(...Object.keys(NEIGHBOURS[neighbours])),
  compilerOptions: { experimentalDecorators: true, emitDecoratorMetadata: true },
  neighbours,
})

/**
 * What is checked at every change. `besideAll` has every entry for Node.js, its frameworks and its drivers; the
 * others have what it lacks.
 */
export const BRIEF: readonly TypeProject[] = [
  { ...HTTP, name: 'node:http and node:sqlite', fixtures: ['http', 'sqlite'] },
  BOTH,
  EDGE,
  HONO_EDGE,
  CLOUDFLARE,
  besideAll('oldest'),
  besideAll('newest'),
]

/** Each entry beside no other package than those that its users have: the others. */
export const SEPARATE: readonly TypeProject[] = [
  EXPRESS_4,
  EXPRESS_5,
  FASTIFY,
  KOA,
  HONO,
  NEST,
  ALL_DRIVERS,
  DECLARATIONS,
  DENO,
  DYNAMODB,
  onDriver('ioredis.ts', 'ioredis'),
  onDriver('node-redis.ts', 'redis'),
  onDriver('memcached.ts', '@types/memjs'),
  onDriver('mysql.ts', 'mysql2'),
  onDriver('postgres.ts', '@types/pg'),
]

/** Other ways to resolve modules, and other versions of drivers. */
export const VARIANTS: readonly TypeProject[] = [
  { ...HTTP, name: 'node:http, module: node16', compilerOptions: { module: 'node16' } },
  {
    ...HTTP,
    name: 'node:http, moduleResolution: bundler',
    fixtures: ['http/server.mts', 'http/stores.ts', 'http/testing.mts', 'http/mistakes.mts'],
    compilerOptions: { module: 'esnext', moduleResolution: 'bundler' },
  },
  {
    ...FASTIFY,
    name: 'Express and Fastify, moduleResolution: bundler',
    fixtures: ['express', 'fastify'],
    installed: { ...EXPRESS, ...FASTIFY.installed },
    compilerOptions: { module: 'esnext', moduleResolution: 'bundler' },
  },
  onDriver('ioredis.ts', 'ioredis', 'ioredis5'),
  onDriver('ioredis.ts', 'ioredis', 'iovalkey'),
  onDriver('node-redis.ts', 'redis', 'redis5'),
]

/** The mistakes that fixtures make, by the framework in which they are made. */
export const MISTAKES = {
  Express: 'express/mistakes.ts',
  Fastify: 'fastify/mistakes.ts',
  'node:http': 'http/mistakes.mts',
} as const

/** All of them at once. */
export const MISTAKEN: TypeProject = {
  name: 'mistakes',
  fixtures: Object.values(MISTAKES),
  installed: { ...EXPRESS, ...FASTIFY.installed },
}

/** Express 5 and 4, and node:http. One project checks the library types: that takes most of the time. */
export const TOGETHER: readonly TypeProject[] = [
  { ...EXPRESS_5, name: 'Express 5 and node:http', fixtures: ['express', 'http'] },
  { ...EXPRESS_4, compilerOptions: { skipLibCheck: true } },
]

/** The drivers' types, and a resolver that finds those of entries by `typesVersions`. */
export const OF_OLDEST: readonly TypeProject[] = [
  { ...DECLARATIONS, compilerOptions: { ...DECLARATIONS.compilerOptions, skipLibCheck: true } },
  ALL_DRIVERS,
  { ...BOTH, compilerOptions: { skipLibCheck: true } },
  {
    ...HTTP,
    name: 'node:http, moduleResolution: node10',
    fixtures: ['http/server.cts', 'http/stores.ts'],
    compilerOptions: { module: 'commonjs', moduleResolution: 'node10', skipLibCheck: true },
  },
]

const STRICT = {
  target: 'es2022',
  lib: ['es2022'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  types: ['node'],
  noEmit: true,
}

/** Writes a project into a new folder, with the package from the tarball. */
export async function writeProject(
  folder: string,
  tarball: string,
  { fixtures, installed, compilerOptions, neighbours }: TypeProject,
  typescript: TypeScript,
): Promise<void> {
  const packages = join(folder, 'node_modules')
  mkdirSync(join(packages, 'headgate'), { recursive: true })
  await mustRun('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(packages, 'headgate')], folder)
  for (const [name, source] of Object.entries(installed)) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(await typescript.folderOf(source, neighbours), join(packages, name), 'dir')
  }
  for (const name of fixtures) cpSync(join(FIXTURES, name), join(folder, name), { recursive: true })
  const config = { compilerOptions: { ...STRICT, ...compilerOptions }, include: fixtures }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }')
}
