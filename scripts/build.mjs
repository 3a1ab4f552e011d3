// Builds dist/esm and dist/cjs: a bundle and its types for each entry of the package, and one for its
// command. What entries share is in chunks, so that a process has one copy of it, however many entries it
// loads. `node scripts/build.mjs --code FOLDER` builds only the code, into another folder. It calls rolldown
// itself, because tsdown, which wraps it, needs Node.js 22.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const [flag, target = 'dist'] = process.argv.slice(2)
const dist = resolve(target)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
process.chdir(ROOT)
if (!isOutside(relative(dist, ROOT)))
  throw new Error(`build: ${target} holds the sources, and would be emptied.`)

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'))
const ENTRIES = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => (path === '.' ? 'index' : path.slice(2)))
/** The command, which is run and never imported: an ES module without types. */
const COMMAND = basename(bin.headgate, '.js')

/** `require('express-rate-limit')` returns the function itself, with the other exports as its properties. */
const CALLABLE = 'module.exports = Object.assign(exports.default, exports)'

/**
 * The folders of `src` in each shared chunk. A folder that is missing has a chunk to itself, as one must that some
 * applications leave out: bundlers keep each top-level statement that may have effects, such as a spread.
 */
const CHUNKS = {
  http: ['http', 'http/actual-cost', 'http/delay'],
  policies: ['util', 'options', 'policies'],
  stores: ['stores', 'stores/shared', 'stores/memory', 'stores/memory/dump'],
  pipe: ['pipe', 'pipe/lease'],
  limiter: ['limiter', 'limiter/candidate', 'limiter/concurrency', 'limiter/waiting'],
}
const CHUNK_OF_FOLDER = new Map(
  Object.entries(CHUNKS).flatMap(([chunk, folders]) => folders.map((folder) => [folder, chunk])),
)

/** Replaces the module that reads the page by the one that holds it, which both formats share. */
const pageModule = {
  name: 'page',
  resolveId: (id) => (id.endsWith('/page-source.js') ? { id: '../page.cjs', external: true } : undefined),
}

/**
 * Takes the indentation out of scripts, and the spaces around operators, because bundles and servers get them as
 * text. Those of the code around them go as well. Around `-` they stay: in Lua, `--` begins a comment.
 */
const scriptSpaces = {
  name: 'script-spaces',
  transform: (code, id) =>
    fromRoot(id).startsWith('src/stores/redis/lua/')
      ? { code: code.replace(/^ +/gm, '').replace(/ *([=~<>]=|[=+*/<>,]) */g, '$1'), map: null }
      : undefined,
}

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
await buildCode()
buildPage()
if (flag !== '--code') await buildTypes()

async function buildCode() {
  const formats = { esm: 'module', cjs: 'commonjs' }
  for (const [format, type] of Object.entries(formats)) {
    const dir = join(dist, format)
    const output = {
      dir,
      format,
      exports: 'named',
      comments: { legal: true, jsdoc: false },
      footer: ({ name }) => (format === 'cjs' && name === 'express-rate-limit' ? CALLABLE : ''),
    }
    const names = format === 'esm' ? [...ENTRIES, COMMAND] : ENTRIES
    await bundle(names, (entry) => `src/${entry}.ts`, output, 'js')
    writeFileSync(`${dir}/package.json`, `${JSON.stringify({ type, sideEffects: false })}\n`)
  }
}

/** Writes the module that holds the page of the dashboard: its scripts in one file, and its styles minified. */
function buildPage() {
  const folder = 'src/dashboard/page'
  const sources = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name.endsWith('.woff2')) return [[name, ['base64', readFileSync(path, 'base64')]]]
    if (name.endsWith('.js') && name !== 'main.js') return []
    return [[name, ['utf8', /\.(js|css)$/.test(name) ? minified(path) : readFileSync(path, 'utf8')]]]
  })
  const text = JSON.stringify(Object.fromEntries(sources), undefined, 1)
  writeFileSync(join(dist, 'page.cjs'), `exports.readPageSource = () => (${text})\n`)
}

/** Returns a script with all that it imports, or a style sheet. */
function minified(path) {
  const options = { format: 'esm', minify: true, target: 'es2023', external: ['*.woff2'], write: false }
  return buildSync({ ...options, entryPoints: [path], bundle: true }).outputFiles[0].text
}

async function buildTypes() {
  const folder = 'dist/types'
  const tsc = [
    'node_modules/typescript/bin/tsc',
    '-p',
    'tsconfig.build.json',
    '--emitDeclarationOnly',
    '--singleThreaded', // more threads take more work: each resolves the same types
    '--outDir',
    folder,
  ]
  execFileSync(process.execPath, tsc, { stdio: 'inherit' })
  const output = { dir: 'dist/cjs', format: 'esm' }
  const ofPackages = (path) => !/^[./]/.test(path)
  await bundle(ENTRIES, (entry) => `${folder}/${entry}.d.ts`, output, 'd.ts', {
    external: ofPackages,
    plugins: [dts({ dtsInput: true })],
  })
  rmSync(folder, { recursive: true })
  for (const name of readdirSync('dist/cjs').filter((each) => each.endsWith('.d.ts'))) {
    const file = join('dist/cjs', name)
    writeFileSync(file, withOptionalTypes(readFileSync(file, 'utf8')))
  }
  for (const entry of ENTRIES) writeFileSync(`dist/esm/${entry}.d.ts`, typesOfModule(entry))
}

/**
 * Returns types in which those of Node.js and Express are `any` for a project that has not installed them, such as
 * one for Workers, instead of errors.
 */
function withOptionalTypes(types) {
  return types.replace(/^import .* from "(?:node:[^"]+|express)";$/gm, '// @ts-ignore\n$&')
}

/**
 * Returns the types of an entry's ES module. They re-export those of its CommonJS module, so that importing
 * and requiring a class give the same type. To an ES module, the default export of CommonJS is
 * `module.exports`, so the default export is re-exported from its other name.
 */
function typesOfModule(entry) {
  const [, name] = /(\w+) as default\b/.exec(readFileSync(`dist/cjs/${entry}.d.ts`, 'utf8')) ?? []
  const from = `from '../cjs/${entry}.js'\n`
  return `export * ${from}${name === undefined ? '' : `export { ${name} as default } ${from}`}`
}

/**
 * Writes the bundles of entries, with a chunk for each folder of `src` that they share: an application's bundler
 * leaves out whole chunks more surely than parts of one.
 */
async function bundle(names, inputOf, output, ending, options = {}) {
  const build = await rolldown({
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: ['fast-check'],
    // Minifiers write the global as `1/0`, and leave the property as it is.
    transform: {
      define: { 'Number.POSITIVE_INFINITY': 'Infinity', PACKAGE_VERSION: JSON.stringify(VERSION) },
    },
    optimization: { inlineConst: { mode: 'all', pass: 2 } },
    plugins: [pageModule, scriptSpaces],
    input: Object.fromEntries(names.map((entry) => [entry, inputOf(entry)])),
    ...options,
  })
  await build.write({
    ...output,
    chunkFileNames: `chunk-[name].${ending}`,
    minify: {
      // As far as the code stays readable, and stacks have all names: bundlers of applications then do more.
      compress: { sequences: false, joinVars: false, keepNames: { function: true, class: true } },
      mangle: false,
      codegen: { removeWhitespace: false },
    },
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunkOf, debugName: 'folders' }],
    },
  })
  await build.close()
}

/**
 * Returns the chunk of a module; `undefined` for an entry. Folders above the checkout may have any names, so
 * paths are read from the root.
 */
function chunkOf(path) {
  if (/\/platform\.(?:d\.)?ts$/.test(path)) return CHUNK_OF_FOLDER.get('util')
  const [, folder] = /^(?:src|dist\/types)\/(.+)\/[^/]+$/.exec(fromRoot(path)) ?? []
  return CHUNK_OF_FOLDER.get(folder) ?? folder?.replaceAll('/', '-')
}

function fromRoot(path) {
  return relative(ROOT, path).replaceAll('\\', '/')
}

function isOutside(relativePath) {
  return isAbsolute(relativePath) || /^\.\.(?:[\\/]|$)/.test(relativePath)
}
