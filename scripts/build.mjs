// Builds dist/esm and dist/cjs, each with its own types, from the same sources.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const FORMATS = [
  { dir: 'esm', type: 'module', flags: [] },
  {
    dir: 'cjs',
    type: 'commonjs',
    flags: '--module commonjs --moduleResolution bundler --verbatimModuleSyntax false'.split(' '),
  },
]

rmSync('dist', { recursive: true, force: true })
for (const { dir, type, flags } of FORMATS) {
  const tsc = [
    'node_modules/typescript/bin/tsc',
    '-p',
    'tsconfig.build.json',
    '--outDir',
    `dist/${dir}`,
    ...flags,
  ]
  execFileSync(process.execPath, tsc, { stdio: 'inherit' })
  writeFileSync(`dist/${dir}/package.json`, `${JSON.stringify({ type })}\n`)
}
