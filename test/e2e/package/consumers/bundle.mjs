// Bundles bundled.mjs with everything it imports: `node bundle.mjs BUNDLER FORMAT FOLDER`, where FOLDER has the
// bundlers. Prints the path of the bundle.

import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const [bundler, format, folder] = process.argv.slice(2)
const isCommonJs = format === 'cjs'
const entry = resolve('bundled.mjs')
const path = resolve('bundles', `${bundler}-${format}`)
const name = isCommonJs ? 'main.cjs' : 'main.mjs'
const file = join(path, name)

const { resolve: find } = createRequire(join(folder, 'package.json'))
const load = (id) => import(pathToFileURL(find(id)))

/** What the CommonJS of other packages needs in an ES module. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
const banner = isCommonJs ? '' : REQUIRE

/** rspack takes the options of webpack. */
async function pack(bundle) {
  const stats = await promisify(bundle)({
    mode: 'production',
    target: 'node20',
    entry,
    output: { path, filename: name, module: !isCommonJs },
    experiments: { outputModule: !isCommonJs },
  })
  const { errors, warnings } = stats.toJson()
  const ofHeadgate = warnings.filter((warning) => JSON.stringify(warning).includes('/headgate/'))
  return [...errors, ...ofHeadgate].map(({ message }) => message)
}

const BUNDLERS = {
  webpack: async () => pack((await load('webpack')).default),
  rspack: async () => pack((await load('@rspack/core')).rspack),
  async esbuild() {
    const { build } = await load('esbuild')
    const options = { bundle: true, platform: 'node', format, outfile: file, banner: { js: banner } }
    const { warnings } = await build({ ...options, entryPoints: [entry], logLevel: 'silent' })
    return warnings.map(({ text }) => text)
  },
  async rolldown() {
    const { build } = await load('rolldown')
    const messages = []
    const onLog = (_level, { message, id = '' }) => void (id.includes('/headgate/') && messages.push(message))
    await build({ input: entry, platform: 'node', output: { file, format, codeSplitting: false }, onLog })
    return messages
  },
  async rollup() {
    const [{ rollup }, ...plugins] = await Promise.all(
      ['rollup', '@rollup/plugin-node-resolve', '@rollup/plugin-commonjs', '@rollup/plugin-json'].map(load),
    )
    const messages = []
    const onwarn = ({ message, id = '' }) => void (id.includes('/headgate/') && messages.push(message))
    const [nodeResolve, commonjs, json] = plugins.map((plugin) => plugin.default)
    const resolving = nodeResolve({ exportConditions: ['node'], preferBuiltins: true })
    const bundle = await rollup({ input: entry, plugins: [resolving, commonjs(), json()], onwarn })
    await bundle.write({ file, format, inlineDynamicImports: true })
    return messages
  },
  async vite() {
    const { build } = await load('vite')
    const output = { format, entryFileNames: name }
    await build({
      configFile: false,
      logLevel: 'silent',
      ssr: { noExternal: true },
      build: { ssr: entry, outDir: path, minify: true, rollupOptions: { output } },
    })
    return []
  },
  async parcel() {
    const { Parcel } = await load('@parcel/core')
    const options = { context: 'node', engines: { node: '>=20' }, includeNodeModules: true }
    const outputFormat = isCommonJs ? 'commonjs' : 'esmodule'
    const main = { ...options, outputFormat, distDir: path, distEntry: name, scopeHoist: true }
    const defaultConfig = find('@parcel/config-default')
    const defaults = { shouldOptimize: true, sourceMaps: false }
    const rest = { targets: { main }, defaultTargetOptions: defaults, shouldDisableCache: true }
    const { bundleGraph } = await new Parcel({
      entries: [entry],
      mode: 'production',
      defaultConfig,
      ...rest,
    }).run()
    return bundleGraph.getBundles().length === 1 ? [] : ['There is more than one file.']
  },
  async ncc() {
    execFileSync(process.execPath, [find('@vercel/ncc/dist/ncc/cli.js'), 'build', entry, '--out', path])
    return []
  },
  async bun() {
    const bun = find('bun/bin/bun.exe')
    execFileSync(bun, ['build', entry, '--target=node', `--format=${format}`, `--outfile=${file}`])
    return []
  },
}

const complaints = await BUNDLERS[bundler]()
if (complaints.length > 0) throw new Error(complaints.join('\n'))
console.log(bundler === 'ncc' ? join(path, 'index.mjs') : file)
