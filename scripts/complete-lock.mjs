// Adds to a package-lock.json the optional packages of other platforms that its registry did not have.
import { readFileSync, writeFileSync } from 'node:fs'

const path = process.argv[2]
const lock = JSON.parse(readFileSync(path, 'utf8'))
const OS = [
  'android',
  'darwin',
  'linux',
  'win32',
  'freebsd',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
  'openharmony',
]
const CPU = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32']
const added = []
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    let dir = parent,
      found = false
    for (;;) {
      if (lock.packages[`${dir ? `${dir}/` : ''}node_modules/${name}`]) {
        found = true
        break
      }
      if (!dir) break
      dir = dir.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')
    }
    if (found) continue
    const words = name.split(/[/-]/)
    const os = OS.filter((o) => words.includes(o)),
      cpu = CPU.filter((c) => words.includes(c))
    const version = range.replace(/^[~^]/, '')
    const e = { version }
    if (cpu.length) e.cpu = cpu
    e.dev = true
    if (words.includes('musl') || words.includes('gnu')) e.libc = [words.includes('musl') ? 'musl' : 'glibc']
    e.optional = true
    if (name === 'fsevents') e.os = ['darwin']
    else if (os.length) e.os = os
    if (!os.length && !cpu.length && name !== 'fsevents') console.log('??', name, range, parent)
    lock.packages[`node_modules/${name}`] = e
    added.push(`${name}@${range}`)
  }
}
const { '': root, ...rest } = lock.packages
lock.packages = {
  '': root,
  ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => a.localeCompare(b, 'en'))),
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(
  added.length,
  added.filter((a) => !/@\d/.test(a.slice(1))),
)
