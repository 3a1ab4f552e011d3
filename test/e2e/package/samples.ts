import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWorker } from './bundle-worker.js'
import { bin, type PackedProject } from './packed-project.js'
import { mustRun, ROOT, run } from './run.js'
import { CURRENT, typescriptOf } from './typescripts.js'

/** A server as users write it: a file of `samples/`, which TypeScript compiles. */
export interface Sample {
  readonly name: string
  /** The arguments of Node.js, in the folder of the compiled samples. */
  readonly args: readonly string[]
}

const file = (name: string): Sample => ({ name, args: [name] })

/** Loads headgate's CommonJS modules, as Node.js before 20.19 does: newer versions require its ES modules. */
const fileOfOldNode = (name: string): Sample => ({
  name: `${name}, without require of ES modules`,
  args: ['--no-experimental-require-module', name],
})

export const ON_EXPRESS: readonly Sample[] = [
  file('express-esm.mjs'),
  file('express-commonjs.cjs'),
  file('express-typescript.js'),
  file('express-typescript-commonjs.cjs'),
  fileOfOldNode('express-commonjs.cjs'),
]

export const SAMPLES: readonly Sample[] = [
  ...ON_EXPRESS,
  file('express-bundled.mjs'),
  file('connect.js'),
  file('node-http.js'),
  file('fastify.js'),
  file('fastify-by-name.mjs'),
  file('fastify-commonjs.cjs'),
  fileOfOldNode('fastify-commonjs.cjs'),
  file('koa.js'),
  file('nest-on-express.js'),
  file('nest-on-fastify.js'),
  file('hono.js'),
  { name: 'next-route.js', args: ['../../hosts/serve-next.mjs', 'next-route.js'] },
  { name: 'worker.js, bundled', args: ['../../hosts/serve-worker.mjs', 'worker-bundled.mjs'] },
]

/** Samples that TypeScript has compiled. */
export interface Compiled {
  readonly folder: string
  /** The errors in the samples and in headgate's types. Those in the types of other packages are left out. */
  readonly errors: string
}

/** Compiles all samples of the project, and bundles one for Node.js and one for Workers. */
export async function compileSamples({ project }: PackedProject): Promise<Compiled> {
  const compiled = await compile(join(project, 'samples'))
  const flags = ['--bundle', '--platform=node', '--format=esm', '--external:express']
  const bundle = ['express-esm.mjs', ...flags, '--outfile=express-bundled.mjs']
  await mustRun(bin('esbuild'), bundle, compiled.folder)
  await bundleWorker(compiled.folder, 'worker.js')
  return compiled
}

/** Compiles the samples for Express in a separate folder, where Express 4 is installed. */
export async function compileOnExpress4({ project }: PackedProject): Promise<Compiled> {
  const { folderOf } = await typescriptOf(CURRENT)
  const folder = join(project, 'samples-express-4')
  const packages = join(folder, 'node_modules')
  mkdirSync(join(packages, '@types'), { recursive: true })
  const samples = join(project, 'samples')
  for (const each of readdirSync(samples).filter((name) => /^express-|\.json$/.test(name)))
    cpSync(join(samples, each), join(folder, each))
  // A copy, because a link would resolve to the types of Express 5.
  cpSync(join(project, 'node_modules/headgate'), join(packages, 'headgate'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules/express4'), join(packages, 'express'), 'dir')
  symlinkSync(await folderOf('types-express-4'), join(packages, '@types/express'), 'dir')
  return compile(folder)
}

async function compile(folder: string): Promise<Compiled> {
  const args = ['-p', folder, '--pretty', 'false', '--singleThreaded']
  const { code, stdout, stderr } = await run(bin('tsc'), args, folder)
  if (code !== 0 && stdout === '') throw new Error(`TypeScript failed: ${stderr}`)
  return { folder: join(folder, 'out'), errors: ownErrors(stdout) }
}

/** Leaves out errors in the types of other packages, together with their continuation lines. */
function ownErrors(printed: string): string {
  const errors = printed.split(/\n(?! )/)
  return errors.filter((error) => !/^\S*node_modules\/(?!headgate\/)/.test(error)).join('\n')
}
