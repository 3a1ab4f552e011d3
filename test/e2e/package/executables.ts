import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fetchPackages } from './fetched.js'
import { nodeOf } from './nodes.js'
import type { PackedProject } from './packed-project.js'
import { mustRun } from './run.js'

/** What makes the programs. pkg follows no links, so it gets the packages of `bundled.mjs` as well. */
const fetchTools = () =>
  fetchPackages('executables', {
    postject: '1.0.0-alpha.6',
    '@yao-pkg/pkg': '6.23.0',
    ioredis: '6.0.0',
    'prom-client': '15.1.3',
  })

/** https://nodejs.org/docs/latest-v20.x/api/single-executable-applications.html */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Puts a CommonJS bundle into a copy of Node.js. Returns the program, in the folder of the bundle. */
export async function programOfBundle(bundle: string): Promise<string> {
  const folder = dirname(bundle)
  const program = join(folder, 'program')
  const config = { main: basename(bundle), output: 'sea.blob', disableExperimentalSEAWarning: true }
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(config))
  await mustRun(process.execPath, ['--experimental-sea-config', 'sea.json'], folder)
  copyFileSync(process.execPath, program)
  chmodSync(program, 0o755)
  const postject = join(await fetchTools(), 'node_modules/.bin/postject')
  await mustRun(postject, [program, 'NODE_SEA_BLOB', 'sea.blob', '--sentinel-fuse', FUSE], folder)
  return program
}

/**
 * Packs `bundled.mjs` and all packages, unchanged, into a program with pkg. Of the modes of pkg, this is the
 * one that accepts a Node.js from npm. pkg finds it where it keeps its downloads.
 */
export async function programOfPackages({ project }: PackedProject): Promise<string> {
  const tools = await fetchTools()
  const node = await nodeOf('22') // the first that pkg takes
  const folder = mkdtempSync(join(tools, 'app-'))
  try {
    cpSync(join(project, 'bundled.mjs'), join(folder, 'bundled.mjs'))
    cpSync(join(project, 'node_modules/headgate'), join(folder, 'node_modules/headgate'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "name": "app", "version": "1.0.0", "bin": "bundled.mjs" }')
    const version = (await mustRun(node.path, ['--version'], folder)).trim()
    await keepDownload(folder, `node-${version}-linux-x64`, node.path)
    const program = join(project, 'packages')
    const pkg = [join(tools, 'node_modules/.bin/pkg'), 'package.json', '--sea', '--output', program]
    const target = ['--targets', `node${version.slice(1)}-linux-x64`]
    await mustRun('env', [`HOME=${folder}`, node.path, ...pkg, ...target], folder)
    return program
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Puts a Node.js where pkg finds it below a home folder. */
async function keepDownload(home: string, name: string, node: string): Promise<void> {
  const kept = join(home, '.pkg-cache/sea')
  mkdirSync(join(kept, name, 'bin'), { recursive: true })
  copyFileSync(node, join(kept, name, 'bin/node'))
  await mustRun('tar', ['-I', 'gzip -1', '-cf', `${name}.tar.gz`, name], kept)
  writeFileSync(join(kept, `${name}.tar.gz.ok`), '')
}
