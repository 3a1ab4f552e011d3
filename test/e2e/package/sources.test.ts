import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.js'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
/** Returns the code of a source, without its doc comments, whose examples have imports. */
const codeOf = (path: string) => read(path).replace(/\/\*\*[\s\S]*?\*\//g, '')

/**
 * Where a TypeScript file takes something from: static, type-only and dynamic imports, re-exports,
 * `require`.
 */
function importsOf(source: string): string[] {
  const pattern = /(?:^(?:import|export|\}).*\bfrom |^import |\bimport\(|\brequire\()(['"`])([^'"`\n]+)\1/gm
  return [...source.matchAll(pattern)].map((match) => match[2] as string)
}

test('the search finds an import however it is written', () => {
  const source = `import a from 'a'
import 'b'
import type {
  C,
} from "c"
export * from 'd'
const e = await import('e')
const f = require('f')
type G = import('g').G
// a distance from 'h', an import
`
  expect(importsOf(source)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

/** The files that are for a framework, by its name. */
const FRAMEWORKS: Readonly<Record<string, (file: string) => boolean>> = {
  express: (file) => file === 'index.ts' || file.startsWith('adapters/express-rate-limit/'),
  hono: (file) => file === 'hono.ts' || file.startsWith('adapters/hono/'),
  koa: (file) => file === 'koa.ts' || file.startsWith('adapters/koa/'),
  fastify: (file) => file === 'fastify.ts' || file.startsWith('adapters/fastify/'),
}

test('the sources import Node.js, and nothing else', () => {
  const isOfFramework = (file: string) => Object.values(FRAMEWORKS).some((isFor) => isFor(file))
  expect(packagesIn((file) => !isOfFramework(file) && !file.startsWith('testing/'))).toEqual([])
})

test('headgate/testing imports fast-check', () => {
  const packages = packagesIn((file) => file.startsWith('testing/'))
  expect(packages).toEqual(['fast-check'])
})

test.each(Object.entries(FRAMEWORKS))(
  'what is for %s imports its types, and nothing else of it',
  (name, isFor) => {
    expect(packagesIn(isFor)).toEqual([name])
    const imports = sourcesAmong(isFor).flatMap((path) => statementsOf(codeOf(path), name))
    expect(imports.filter((statement) => !statement.startsWith('import type {'))).toEqual([])
  },
)

/** Returns the statements that import something from a package. */
function statementsOf(source: string, name: string): string[] {
  return source.match(new RegExp(`^(?:import|export)(?:(?!from ).|\\n)*from '${name}'$`, 'gm')) ?? []
}

/** Returns the paths of some files of `src`. */
function sourcesAmong(isWanted: (file: string) => boolean): string[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts') && isWanted(file)).map((file) => `src/${file}`)
}

/** Returns the packages that some files of `src` import. */
function packagesIn(isWanted: (file: string) => boolean): string[] {
  const imported = sourcesAmong(isWanted).flatMap((path) => importsOf(codeOf(path)))
  return [...new Set(imported.filter((name) => !/^(node:|\.{1,2}\/)/.test(name)))].sort()
}

test('the package has no dependencies, and all its peers are optional', () => {
  const manifest = JSON.parse(read('package.json'))
  expect(manifest.dependencies).toBeUndefined()
  const peers = [
    '@opentelemetry/api',
    '@types/express',
    '@types/koa',
    'fast-check',
    'fastify',
    'hono',
    'prom-client',
  ]
  expect(Object.keys(manifest.peerDependencies)).toEqual(peers)
  const optional = Object.fromEntries(peers.map((name) => [name, { optional: true }]))
  expect(manifest.peerDependenciesMeta).toEqual(optional)
  expect(Object.keys(manifest.optionalDependencies ?? {})).toEqual([])
})

test('resolvers that do not read `exports` find the types of each entry', () => {
  const { exports, typesVersions } = JSON.parse(read('package.json'))
  const entries = Object.keys(exports).filter((path) => !['.', './package.json'].includes(path))
  const expected = entries.map((path) => [path.slice(2), [exports[path].require.types]])
  expect(typesVersions).toEqual({ '*': Object.fromEntries(expected) })
})

const LOCKS = ['package-lock.json', 'docs/package-lock.json']

test.each(LOCKS)('%s names packages by version and checksum, not by host', (lock) => {
  const { packages } = JSON.parse(read(lock)) as {
    packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }>
  }
  const installed = Object.entries(packages).filter(([path]) => path !== '')
  expect(installed.length).toBeGreaterThan(1)
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

test.each(LOCKS)('%s has the optional packages of all platforms, without which npm ci fails', (lock) => {
  const { packages } = JSON.parse(read(lock)) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')))
  const optional = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
  expect(optional.length).toBeGreaterThan(0)
  expect(optional.filter((name) => !locked.has(name))).toEqual([])
})
