import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const run = promisify(execFile)
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Starts headless Chromium: the one that `CHROMIUM_PATH` names, or one on this machine, or Debian's package. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = (await findChromium()) ?? (await installChromium())
  return chromium.launch({ executablePath, args: ARGS })
}

async function findChromium(): Promise<string | undefined> {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen) {
    if (await isExecutable(chosen)) return chosen
    throw new Error(`CHROMIUM_PATH is ${JSON.stringify(chosen)}, which is no program that can be run.`)
  }
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(delimiter).filter(Boolean)]
  for (const path of NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    if (await isExecutable(path)) return path
  }
  return undefined
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function installChromium(): Promise<string> {
  const install = ['install', '-y', '--no-install-recommends', 'chromium']
  const mend = `Run: sudo apt-get update && sudo apt-get ${install.join(' ')} (or set CHROMIUM_PATH)`
  if (process.getuid?.() !== 0 || !(await isExecutable('/usr/bin/apt-get')))
    throw new Error(`There is no Chromium here, and it cannot be installed without root and apt-get. ${mend}`)
  try {
    await aptGet('update')
    await aptGet(...install)
  } catch (cause) {
    throw new Error(`Chromium could not be installed. ${mend}`, { cause })
  }
  const path = await findChromium()
  if (path === undefined) throw new Error(`apt-get installed no Chromium. ${mend}`)
  return path
}

/** Waits for another apt-get that is under way, and asks nothing. */
function aptGet(...args: string[]): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return run('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], { env, maxBuffer: 64 * 1024 * 1024 })
}
