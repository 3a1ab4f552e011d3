import { type Child, startChild } from '../../bench/harness/child.js'

const HEAP_MB = 1000
/** For a process to end by itself. A server that hangs does not. */
const ENDING_MS = 2000

const running = new Set<Child>()
process.on('exit', () => {
  for (const { process: child } of running) child.kill('SIGKILL')
})

/**
 * Starts processes, and has them answer questions. Whatever happens, they have ended when this settles: they
 * get `timeoutMs` for all that `use` does, and are killed if they do not end by themselves.
 */
export async function withChildren<Outcome>(
  modules: readonly (readonly [module: URL, args: readonly string[]])[],
  timeoutMs: number,
  use: (...children: Child[]) => Promise<Outcome>,
  endingMs = ENDING_MS,
): Promise<Outcome> {
  const children = modules.map(([module, args]) => startChild(module, args, HEAP_MB, timeoutMs))
  for (const child of children) running.add(child)
  try {
    return await use(...children)
  } finally {
    await Promise.all(children.map((child) => end(child, endingMs)))
  }
}

async function end(child: Child, endingMs: number): Promise<void> {
  const timer = setTimeout(() => child.process.kill('SIGKILL'), endingMs)
  await child.end()
  clearTimeout(timer)
  running.delete(child)
}
