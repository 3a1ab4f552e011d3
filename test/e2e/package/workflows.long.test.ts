import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
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

test('the long tests run every night, where the tests can install their servers as in CI', () => {
  const nightly = read('.github/workflows/nightly.yml')
  expect(nightly).toMatch(/^ {2}schedule:\n {4}- cron: /m)
  expect(nightly).toMatch(/^ {6}- run: npm run test:long$/m)
  expect(nightly).toMatch(new RegExp(`^ {6}image: node:${PROMISED[0]}-bookworm$`, 'm'))
})

test.each(workflows)(
  '%s names scripts that exist, limits its jobs, and uses actions of GitHub or Changesets by major version',
  (file) => {
    const text = read(`.github/workflows/${file}`)
    const { scripts } = JSON.parse(read('package.json'))
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] as string)
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
    expect(text.match(/timeout-minutes:/g)).toHaveLength(text.match(/runs-on:/g)?.length ?? 0)
    expect(text).toMatch(/^permissions:\n {2}contents: read$/m)
    const uses = [...text.matchAll(/uses: (\S+)/g)].map((match) => match[1])
    expect(
      uses.filter(
        (each) => !/^(?:(?:actions\/[\w-]+|changesets\/action)@v\d+|\.\/\S+\.yml)$/.test(each as string),
      ),
    ).toEqual([])
  },
)

describe('the release workflow', () => {
  const jobs = read('.github/workflows/release.yml').split(/^ {2}(?=[\w-]+:$)/m)

  test('runs nothing of this repository in the job that can publish', () => {
    const publishing = jobs.filter((job) => job.includes('id-token: write'))
    const commands = publishing.map((job) => [...job.matchAll(/(?:run|uses): (.*)/g)].map(([, each]) => each))
    expect(commands).toEqual([
      [
        expect.stringMatching(/^actions\/setup-node@/),
        expect.stringMatching(/^actions\/download-artifact@/),
        'npm publish headgate-*.tgz --provenance --access public',
      ],
    ])
  })

  test('runs only what the lock file names beside the right to write', () => {
    const writing = jobs.filter((job) => job.includes(': write'))
    expect(writing.join().match(/\bnpx --yes|npm (?:install|exec)\b/g)).toBeNull()
    expect(read('scripts/next-version.mjs')).toContain("run('npx', 'changeset', 'version')")
    expect(Object.keys(JSON.parse(read('package.json')).devDependencies)).toContain('@changesets/cli')
  })

  test('builds the package in a job that can write nothing', () => {
    const building = jobs.filter((job) => job.includes('npm pack'))
    expect(building.map((job) => job.split(':', 1)[0])).toEqual(['pack'])
    expect(building.join()).not.toMatch(/permissions:|GH_TOKEN|secrets\./)
  })

  test('describes a release by the top section of the CHANGELOG', () => {
    const [, command = ''] = /^ {10}(awk .* CHANGELOG\.md)/m.exec(jobs.join('')) ?? []
    const notes = execFileSync('bash', ['-c', command.replace('CHANGELOG.md', '-')], {
      input: '# Changelog\n\n## 1.2.0 (2026-11-23)\n\n- A bug.\n\n## 1.1.0 (2026-11-01)\n\n- Older.\n',
      encoding: 'utf8',
    })
    expect(notes.trim()).toBe('- A bug.')
  })
})

test('while changesets wait, CHANGELOG has a heading that the next version can date', () => {
  const waiting = readdirSync(join(ROOT, '.changeset')).filter((file) => /^(?!README).*\.md$/.test(file))
  const [heading] = read('CHANGELOG.md').match(/^## .*$/m) ?? []
  expect(heading).toMatch(waiting.length > 0 ? /^## Unreleased$/ : /^## \d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/)
})
