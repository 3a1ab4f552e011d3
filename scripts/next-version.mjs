// Turns the waiting changesets into a new version, dates `## Unreleased` in CHANGELOG.md, and removes what pages
// say until there is a release. The release workflow runs it with `node scripts/next-version.mjs`. Changesets
// needs Node.js 22.11 or newer.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const UNRELEASED = /^## Unreleased$/m

const changelog = readFileSync('CHANGELOG.md', 'utf8')
if (!UNRELEASED.test(changelog)) throw new Error('CHANGELOG.md has no heading "## Unreleased".')
run('npx', 'changeset', 'version')
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund')
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const today = new Date().toISOString().slice(0, 10)
writeFileSync('CHANGELOG.md', changelog.replace(UNRELEASED, `## ${version} (${today})`))
for (const page of ['README.md', 'docs/getting-started.md'])
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(' # E404 until the first release', ''))

function run(command, ...args) {
  execFileSync(command, args, { stdio: 'inherit' })
}
