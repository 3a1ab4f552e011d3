import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotInstalled } from '../../support/servers/not-installed.js'
import { mustRun, ROOT } from './run.js'

/**
 * Returns a folder of `.cache/` whose node_modules has these packages. npm fills it when it has not; if it
 * cannot, the tests that need them are left out.
 */
export function fetchPackages(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const fetching = inProgress.get(name) ?? fetchNow(name, packages)
  inProgress.set(name, fetching) // tests that run together fetch it once
  return fetching
}

const inProgress = new Map<string, Promise<string>>()

async function fetchNow(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(ROOT, '.cache', name)
  const wanted = JSON.stringify({ private: true, dependencies: packages })
  const list = join(folder, 'wanted.json')
  if (existsSync(list) && readFileSync(list, 'utf8') === wanted) return folder
  const fresh = `${folder}-${process.pid}` // renamed when it is whole, so that a broken download leaves nothing behind
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), wanted)
  const args = ['install', '--prefix', fresh, '--prefer-offline', '--no-audit', '--no-fund']
  await mustRun('npm', args, fresh).catch((cause: unknown) => {
    rmSync(fresh, { recursive: true, force: true })
    const names = Object.keys(packages).join(', ')
    throw new NotInstalled(
      `npm could not install ${names}.`,
      'Run the tests where npm reaches its registry.',
      { cause },
    )
  })
  writeFileSync(join(fresh, 'wanted.json'), wanted)
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  return folder
}
