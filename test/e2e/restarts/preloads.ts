/** Returns the option of Node.js that runs a module before the program. */
const preload = (code: string) => `--import=data:text/javascript,${encodeURIComponent(code)}`

/** Sends SIGTERM as soon as the process has renamed a dump. */
export const STOPPED_WHILE_STARTING = preload(`
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const { renameSync } = fs
  fs.renameSync = (...paths) => {
    renameSync(...paths)
    process.kill(process.pid, 'SIGTERM')
  }
  syncBuiltinESMExports()
`)

/** Sends SIGTERM again in the turn of the first one, while the process is closing. */
export const STOPPED_TWICE = preload(`
  process.once('SIGTERM', () => process.nextTick(() => process.kill(process.pid, 'SIGTERM')))
`)
