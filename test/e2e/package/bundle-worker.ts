import { bin } from './packed-project.js'
import { mustRun } from './run.js'

/** Bundles `worker.mjs` of a project as tools for Cloudflare Workers do. */
export function bundleWorker(project: string): Promise<string> {
  const flags = ['--bundle', '--format=esm', '--conditions=workerd,worker,browser', '--external:node:*']
  return mustRun(bin('esbuild'), ['worker.mjs', ...flags, '--outfile=worker-bundled.mjs'], project)
}
