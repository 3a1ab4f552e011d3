import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { type Browser, chromium } from 'playwright-core'
import { findOrInstall } from './install.js'

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts headless Chromium: the one that `CHROMIUM_PATH` names, or one on this machine, or Debian's
 * package. `hosts` maps names of hosts to IP addresses.
 */
export async function launchChromium(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`)
  const args = [...ARGS, `--host-resolver-rules=${rules.join(',')}`]
  return chromium.launch({ executablePath: await chromiumPath(), args })
}

async function chromiumPath(): Promise<string> {
  const chosen = process.env.CHROMIUM_PATH
  if (!chosen) {
    const program = ['chromium', 'chromium-browser', 'google-chrome']
    return findOrInstall({ program, debianPackage: 'chromium', instead: 'set CHROMIUM_PATH' })
  }
  await access(chosen, constants.X_OK).catch((cause: unknown) => {
    throw new Error(`CHROMIUM_PATH is ${JSON.stringify(chosen)}, which cannot be run.`, {
      cause,
    })
  })
  return chosen
}
