// Prepares releases. Run in the folder of package.json:
//   node scripts/release.mjs version   takes the changesets into a new version, and dates it in CHANGELOG.md
//   node scripts/release.mjs notes     prints what CHANGELOG.md says of the current version; fails before its date
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const CHANGESETS = '@changesets/cli@3.0.3'
/** `## Unreleased`, or `## 0.1.0 (unreleased)`. */
const UNRELEASED = /^## (?:unreleased|\S+ \(unreleased\))$/im

const commands = { version, notes }
const command = commands[process.argv[2]]
if (command === undefined) throw new Error(`release: use one of ${Object.keys(commands).join(', ')}.`)
command()

function version() {
  const waiting = readdirSync('.changeset').filter((name) => name.endsWith('.md') && name !== 'README.md')
  if (waiting.length === 0) return
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  if (!UNRELEASED.test(changelog)) throw new Error('CHANGELOG.md has no heading "## Unreleased".')
  execFileSync('npx', ['--yes', CHANGESETS, 'version'], { stdio: 'inherit' })
  const next = currentVersion()
  const today = new Date().toISOString().slice(0, 10)
  writeFileSync('CHANGELOG.md', changelog.replace(UNRELEASED, `## ${next} (${today})`))
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  lock.version = next
  lock.packages[''].version = next
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
}

function notes() {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^(?=## )/m)
  const heading = `## ${currentVersion()} (`
  const section = sections.find((each) => each.startsWith(heading) && !UNRELEASED.test(each))
  if (section === undefined) {
    console.error(`CHANGELOG.md has no date for version ${currentVersion()}.`)
    process.exitCode = 1
    return
  }
  console.log(section.slice(section.indexOf('\n')).trim())
}

function currentVersion() {
  return JSON.parse(readFileSync('package.json', 'utf8')).version
}
