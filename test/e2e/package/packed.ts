import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mustRun, ROOT } from './run.js'

/** What `npm pack` needs of a checkout. The copy is built, so the checkout's own dist is left alone. */
const NEEDED = [
  'src',
  'scripts',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
]

/** What programs of the project use beside headgate, at the versions of this checkout. */
const LINKED = [
  'express',
  'connect',
  'fastify',
  'koa',
  'hono',
  '@hono',
  '@nestjs',
  'fast-check',
  'ioredis',
  'prom-client',
  '@types/node',
  '@types/express',
  '@types/connect',
  '@types/koa',
]

/** Packs a copy of this checkout, without a dist, in a new folder; gives the tarball's path. */
export async function packCopy(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'headgate-pack-'))
  for (const name of NEEDED) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir')
  await mustRun('npm', ['pack'], copy)
  const tarball = readdirSync(copy).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack left no tarball')
  return join(copy, tarball)
}

/** Makes a project that has the tarball installed, with the programs that use it; gives its folder. */
export async function installInto(tarball: string): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'headgate-consumer-'))
  cpSync(join(__dirname, 'consumers'), project, { recursive: true })
  for (const name of ['samples', 'hosts'])
    cpSync(join(__dirname, name), join(project, name), { recursive: true })
  const config = { '@parcel/resolver-default': { packageExports: true } } // off by default in Parcel 2
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', private: true, ...config }))
  await mustRun('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], project)
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  for (const name of LINKED) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name), 'dir')
  }
  return project
}
