import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { NotInstalled } from './not-installed.js'

const run = promisify(execFile)

export interface Wanted {
  /** The program's name, or several that will do, the best first. */
  readonly program: string | readonly string[]
  /** Further folders that may hold it, the best first; they come before those of `PATH`. */
  readonly folders?: () => Promise<readonly string[]>
  readonly debianPackage: string
  /** What a user can do instead of installing it, such as `set REDIS_URL`. */
  readonly instead?: string
}

/** What the machine offers; a test gives its own. */
export interface Machine {
  /** Folders joined as in `PATH`. */
  readonly path: string
  readonly root: boolean
  /** The script that Debian's packages call before they start a service. */
  readonly policy: string
}

/** How long a `beforeAll` should wait where a program may have to be installed first. */
export const INSTALL_TIMEOUT_MS = 600_000

/**
 * Installs a package unless another test process, which held the lock before, already has. While it works,
 * packages must start no service (101 is "forbidden by policy"): the tests start their own, with
 * their own data.
 */
const INSTALL = `
set -u
package=$1 policy=$2
shift 2
for program; do if command -v "$program" >/dev/null; then exit 0; fi; done
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 143' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" || exit
fi
install() { apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$package"; }
install || { apt-get update && install; }`

/**
 * The path of a program: one that is on this machine, or else one that apt-get installs, where that is
 * possible. Otherwise the tests that need it are left out.
 */
export async function findOrInstall(wanted: Wanted, machine: Machine = thisMachine()): Promise<string> {
  const programs = [wanted.program].flat()
  const found = await find(wanted, machine)
  if (found) return found
  const { debianPackage, instead } = wanted
  const hint =
    `Run: sudo apt-get update && sudo apt-get install -y --no-install-recommends ${debianPackage}` +
    (instead ? ` (or ${instead})` : '')
  if (!machine.root || !(await find({ program: 'apt-get' }, machine)))
    throw new NotInstalled(`${programs[0]} is not installed, and installing it needs root and apt-get.`, hint)
  try {
    await install(debianPackage, programs, machine)
  } catch (cause) {
    throw new NotInstalled(`${programs[0]} could not be installed.`, hint, { cause })
  }
  const installed = await find(wanted, machine)
  if (installed) return installed
  throw new Error(`The package ${debianPackage} does not contain ${programs[0]}. ${hint}`)
}

export function thisMachine(): Machine {
  const folders = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/bin', '/sbin']
  return {
    path: [process.env.PATH, ...folders].filter(Boolean).join(delimiter),
    root: process.getuid?.() === 0,
    policy: '/usr/sbin/policy-rc.d',
  }
}

type Sought = Pick<Wanted, 'program' | 'folders'>

/** The path of a program that is on this machine. */
export async function find({ program, folders }: Sought, { path }: Machine): Promise<string | undefined> {
  const all = [...((await folders?.()) ?? []), ...path.split(delimiter).filter(Boolean)]
  for (const candidate of [program].flat().flatMap((name) => all.map((folder) => join(folder, name)))) {
    if (await isExecutable(candidate)) return candidate
  }
  return undefined
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** One at a time: the lock is on the policy's folder, and the kernel frees it however its holder ends. */
function install(debianPackage: string, programs: readonly string[], { path, policy }: Machine) {
  const script = ['sh', '-c', INSTALL, 'install', debianPackage, policy, ...programs]
  const env = { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive' }
  return run('flock', [dirname(policy), ...script], { env, maxBuffer: 64 * 1024 * 1024 })
}
