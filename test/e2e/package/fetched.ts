import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotInstalled } from '../../support/servers/not-installed.js'
import { mustRun, ROOT } from './run.js'

/**
 * Returns a folder of `.cache/` whose node_modules has these packages. npm fills it when it has not; if it
 * cannot, the tests that need them are left out.
 */
export function fetchPackages(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const wanted = JSON.stringify({ private: true, dependencies: packages })
  return fetchOnce(name, wanted, 'install', (folder) => writeFileSync(join(folder, 'package.json'), wanted))
}

/** The same for the packages that the lock file of a folder names. */
export function fetchLocked(name: string, locked: string): Promise<string> {
  const files = ['package.json', 'package-lock.json']
  const wanted = files.map((file) => readFileSync(join(locked, file), 'utf8')).join('')
  return fetchOnce(name, wanted, 'ci', (folder) => {
    for (const file of files) cpSync(join(locked, file), join(folder, file))
  })
}

const inProgress = new Map<string, Promise<string>>()

/** Tests that run together fetch it once. */
function fetchOnce(
  name: string,
  wanted: string,
  command: 'install' | 'ci',
  prepare: (folder: string) => void,
): Promise<string> {
  const fetching = inProgress.get(name) ?? fetchNow(join(ROOT, '.cache', name), wanted, command, prepare)
  inProgress.set(name, fetching)
  return fetching
}

/**
 * Fills a folder unless another process, which held the lock before, already has. It gets its name when it is
 * whole, so that a broken download leaves nothing behind.
 */
const FILL = `
set -eu
folder=$1 fresh=$2 command=$3
exec 9>"$folder.lock"
if command -v flock >/dev/null; then flock 9; fi
if cmp -s "$fresh/wanted.json" "$folder/wanted.json"; then exit; fi
npm "$command" --prefix "$fresh" --prefer-offline --no-audit --no-fund
rm -rf "$folder"
mv "$fresh" "$folder"`

async function fetchNow(
  folder: string,
  wanted: string,
  command: string,
  prepare: (folder: string) => void,
): Promise<string> {
  const list = join(folder, 'wanted.json')
  if (existsSync(list) && readFileSync(list, 'utf8') === wanted) return folder
  const fresh = `${folder}-${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    prepare(fresh)
    writeFileSync(join(fresh, 'wanted.json'), wanted)
    await mustRun('sh', ['-c', FILL, 'fill', folder, fresh, command], fresh)
  } catch (cause) {
    const hint = 'Run the tests where npm reaches its registry.'
    throw new NotInstalled(`npm could not install what ${folder} should have.`, hint, { cause })
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return folder
}
