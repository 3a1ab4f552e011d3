// Builds dist/esm and dist/cjs: a bundle and its types for each entry of the package, and one for its command.
// What entries share lies in chunks, so that a process has one copy of it however many entries it loads. The
// packages that headgate uses are bundled, with their licenses. `node scripts/build.mjs --code FOLDER` builds no
// types, and into another folder.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const [flag, target = 'dist'] = process.argv.slice(2)
const dist = resolve(target)
process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'))
const ENTRIES = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => (path === '.' ? 'index' : path.slice(2)))
/** The command, which is run and never imported: an ES module without types. */
const COMMAND = basename(bin.headgate, '.js')

/** `require('express-rate-limit')` returns the function itself, with the other exports as its properties. */
const CALLABLE = 'module.exports = Object.assign(exports.default, exports)'

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
await buildCode()
copyPage()
if (flag !== '--code') await buildTypes()

async function buildCode() {
  const formats = { esm: 'module', cjs: 'commonjs' }
  const bundled = new Set()
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
    for (const path of await bundle(names, (entry) => `src/${entry}.ts`, output, 'js')) bundled.add(path)
    writeFileSync(`${dir}/package.json`, `${JSON.stringify({ type })}\n`)
  }
  const charts = resolve('node_modules/uplot/dist/uPlot.esm.js')
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licensesOf([...bundled, charts]))
}

/** Copies the page of the dashboard, and the library of its charts. */
function copyPage() {
  const folder = join(dist, 'page')
  cpSync('src/dashboard/page', folder, { recursive: true })
  for (const name of ['uPlot.esm.js', 'uPlot.min.css'])
    cpSync(`node_modules/uplot/dist/${name}`, join(folder, name))
}

async function buildTypes() {
  const folder = 'dist/types'
  const tsc = [
    'node_modules/typescript/bin/tsc',
    '-p',
    'tsconfig.build.json',
    '--emitDeclarationOnly',
    '--outDir',
    folder,
  ]
  execFileSync(process.execPath, tsc, { stdio: 'inherit' })
  const output = { dir: 'dist/esm', format: 'esm' }
  const ofPackages = (path) => !/^[./]/.test(path)
  await bundle(ENTRIES, (entry) => `${folder}/${entry}.d.ts`, output, 'd.ts', {
    external: ofPackages,
    plugins: [dts({ dtsInput: true })],
  })
  rmSync(folder, { recursive: true })
  for (const file of readdirSync('dist/esm').filter((name) => name.endsWith('.d.ts')))
    cpSync(join('dist/esm', file), join('dist/cjs', file))
}

/**
 * Writes the bundles of entries, with the whole of `headgate/http` in one chunk, and what only adapters use
 * of its room. Returns what they bundle.
 */
async function bundle(names, inputOf, output, ending, options = {}) {
  const common = { platform: 'node', ...options }
  const core = new Set(await modulesOf({ ...common, input: inputOf('http') }))
  const groups = [
    { name: 'core', test: (path) => core.has(path) || /\/src\/http\//.test(path), priority: 1 },
    { name: 'shared', minShareCount: 2 },
  ]
  const build = await rolldown({ ...common, input: Object.fromEntries(names.map((e) => [e, inputOf(e)])) })
  const written = await build.write({
    ...output,
    chunkFileNames: `[name].${ending}`,
    codeSplitting: { groups },
  })
  await build.close()
  return written.output.flatMap(({ moduleIds }) => moduleIds)
}

async function modulesOf(options) {
  const build = await rolldown(options)
  const { output } = await build.generate()
  await build.close()
  return output.flatMap(({ moduleIds }) => moduleIds)
}

/** Returns the licenses of the packages that some bundled files belong to. */
function licensesOf(paths) {
  const folders = Array.from(paths, (path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0])
  const found = new Map()
  for (const folder of new Set(folders.filter(Boolean))) {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[sc]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no license file, so it cannot be bundled.`)
    found.set(`${name} ${version}`, readFileSync(join(folder, file), 'utf8').trim())
  }
  const texts = [...found].sort().map(([title, text]) => `${title}\n\n${text}\n`)
  return `headgate bundles these packages.\n\n${texts.join(`\n${'-'.repeat(78)}\n\n`)}`
}
