import { bin } from './packed-project.js'
import { mustRun } from './run.js'

/** Bundles a file of a folder as tools for Cloudflare Workers do, into `worker-bundled.mjs`. */
export function bundleWorker(folder: string, file: string): Promise<string> {
  const flags = ['--bundle', '--format=esm', '--conditions=workerd,worker,browser', '--external:node:*']
  return mustRun(bin('esbuild'), [file, ...flags, '--outfile=worker-bundled.mjs'], folder)
}
