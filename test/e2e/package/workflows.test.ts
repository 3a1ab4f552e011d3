import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROMISED } from './nodes.js'
import { ROOT } from './run.js'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const workflows = readdirSync(join(ROOT, '.github/workflows'))

test('CI runs .ci/run on every Node.js that the package promises, as does what tries the package', () => {
  const ci = read('.github/workflows/ci.yml')
  const matrix = /^ {8}node: \[(.*)\]$/m.exec(ci)?.[1]?.split(', ')
  expect(matrix).toEqual(PROMISED)
  expect(ci).toMatch(/^ {6}- run: \.ci\/run$/m)
  const { engines } = JSON.parse(read('package.json'))
  expect(engines.node).toMatch(new RegExp(`^>=${PROMISED[0]}\\.`))
})

test.each(workflows)('%s names scripts that exist, limits its jobs, and pins its actions', (file) => {
  const text = read(`.github/workflows/${file}`)
  const { scripts } = JSON.parse(read('package.json'))
  const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] as string)
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  expect(text.match(/timeout-minutes:/g)).toHaveLength(text.match(/runs-on:/g)?.length ?? 0)
  expect(text).toMatch(/^permissions:\n {2}contents: read$/m)
  const uses = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1])
  expect(uses.filter((each) => !/^(?:actions\/[\w-]+@v\d+|\.\/\S+\.yml)$/.test(each as string))).toEqual([])
})

describe('release.mjs', () => {
  const script = join(ROOT, 'scripts/release.mjs')
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-release-'))
    writeFileSync(join(folder, 'package.json'), '{ "version": "1.2.0" }')
  })

  afterEach(() => rmSync(folder, { recursive: true }))

  test('notes prints the section of the current version', () => {
    const sections = [
      '# Changelog',
      '## 1.2.0 (2026-11-23)',
      '### Fixed\n\n- A bug.',
      '## 1.1.0 (2026-11-01)',
    ]
    writeFileSync(join(folder, 'CHANGELOG.md'), sections.join('\n\n'))
    const notes = execFileSync(process.execPath, [script, 'notes'], { cwd: folder, encoding: 'utf8' })
    expect(notes).toBe('### Fixed\n\n- A bug.\n')
  })

  test.each(['## Unreleased', '## 1.2.0 (unreleased)'])('notes fails under %j', (heading) => {
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n${heading}\n\n- A bug.\n`)
    const { status, stderr } = spawnSync(process.execPath, [script, 'notes'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([1, 'CHANGELOG.md has no date for version 1.2.0.\n'])
  })
})

test('this CHANGELOG has a heading that a release can date, or one that is dated', () => {
  const [heading] = read('CHANGELOG.md').match(/^## .*$/m) ?? []
  expect(heading).toMatch(/^## (?:Unreleased|\d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d{2}-\d{2})\))$/)
})
