import { createRequire } from 'node:module'

// Arguments: 'import' or 'require', a package or an entry of it, and perhaps another that is loaded before it.
// Prints what loading it took. Plain JavaScript, so that no TypeScript loader runs in the process.
const [how, name, before] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const load = how === 'import' ? (specifier) => import(specifier) : require

if (before !== undefined) await load(before)
const cpu = process.cpuUsage()
const start = process.hrtime.bigint()
await load(name)
const wallMs = Number(process.hrtime.bigint() - start) / 1e6
const { user, system } = process.cpuUsage(cpu)
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs }))
