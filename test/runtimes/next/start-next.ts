import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun, ownEnvironment, ROOT } from '../../e2e/package/run.js'
import { startProcess } from '../../support/servers/processes.js'
import { HOST } from '../../support/servers/server.js'
import { bundleApp } from '../bundle-app.js'
import { fetchNext } from '../fetched.js'
import { accepts, type Running } from '../start-in.js'

/** Next.js bundles packages itself, as it does in the projects of users. */
const RESOLUTION = {
  platform: 'neutral',
  conditions: ['import'],
  builtin: ['headgate/*', 'hono'],
  format: 'esm',
} as const

/**
 * Serves an application from an edge route of Next.js that catches all paths, behind the edge middleware of
 * `project/`, as built for production. That takes 20 seconds of CPU and 500 MB.
 */
export async function startNext(
  app: string,
  store: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const packages = await fetchNext()
  const next = join(packages, 'node_modules/next/dist/bin/next')
  const folder = mkdtempSync(join(packages, 'app-')) // Next.js follows no links out
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    cpSync(join(__dirname, 'project'), folder, { recursive: true })
    writeHandlerOfPage(join(folder, 'app/hello'))
    await installPackages(join(folder, 'node_modules'))
    await bundleApp(join(folder, 'app.mjs'), { entry: app, app, store, env }, RESOLUTION)
    await mustRun(process.execPath, [next, 'build'], folder)
    const started = await startProcess({
      name: 'next',
      program: 'env',
      env: { ...ownEnvironment(), ...env },
      args: ({ port }) => [
        process.execPath,
        next,
        'start',
        folder,
        '--hostname',
        HOST,
        '--port',
        String(port),
      ],
      ready: ({ port }) => accepts(port),
    })
    const close = () => started.stop().finally(remove)
    return { url: `http://${HOST}:${started.port}`, process: started, close }
  } catch (error) {
    remove()
    throw error
  }
}

/** Gives a project the checkout's headgate, as published, and Hono. */
async function installPackages(folder: string): Promise<void> {
  const headgate = join(folder, 'headgate')
  await mustRun(process.execPath, ['scripts/build.mjs', '--code', join(headgate, 'dist')], ROOT)
  cpSync(join(ROOT, 'package.json'), join(headgate, 'package.json'))
  cpSync(join(ROOT, 'node_modules/hono'), join(folder, 'hono'), { recursive: true })
}

/** Writes the route handler of the page about Next.js, without types, which would need a compiler. */
function writeHandlerOfPage(folder: string): void {
  const page = readFileSync(join(ROOT, 'docs/runtimes/vercel.md'), 'utf8')
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(page) ?? []
  mkdirSync(folder)
  writeFileSync(join(folder, 'route.js'), code.replaceAll(': Request', ''))
}
