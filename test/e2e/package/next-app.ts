import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchPackages } from './fetched.js'
import type { PackedProject } from './packed-project.js'
import { mustRun } from './run.js'

/** An application of Next.js, built. */
export interface NextApp {
  readonly folder: string
  /** What Node.js runs to start it, in its folder. */
  readonly args: readonly string[]
}

/** Builds an application with one route handler. Its folder is where Next.js lies: it follows no links out. */
export async function buildNextApp({ project }: PackedProject, route: string): Promise<NextApp> {
  const root = await fetchPackages('next', { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' })
  const folder = mkdtempSync(join(root, 'app-'))
  mkdirSync(join(folder, 'app'))
  cpSync(route, join(folder, 'app/route.js'))
  cpSync(join(project, 'node_modules/headgate'), join(folder, 'node_modules/headgate'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
  const config = JSON.stringify({ turbopack: { root } })
  writeFileSync(join(folder, 'next.config.mjs'), `export default ${config}`)
  const next = join(root, 'node_modules/next/dist/bin/next')
  await mustRun(process.execPath, [next, 'build'], folder)
  return { folder, args: [next, 'start', '--port', '0', '--hostname', '127.0.0.1'] }
}
