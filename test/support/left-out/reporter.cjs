const { relative } = require('node:path')

/** Says at the end of a run which tests were left out, and how to include them. */
module.exports = class LeftOutReporter {
  constructor({ rootDir }) {
    this.rootDir = rootDir
  }

  onRunComplete(_contexts, { testResults }) {
    const files = testResults.flatMap(({ testFilePath, leftOut = [], testResults: { length } }) => {
      return leftOut.length > 0 ? [{ name: relative(this.rootDir, testFilePath), leftOut, length }] : []
    })
    if (files.length > 0) process.stderr.write(`\n${textOf(files)}`)
  }
}

function textOf(files) {
  const count = files.reduce((sum, { leftOut }) => sum + leftOut.length, 0)
  const hints = new Set(files.flatMap(({ leftOut }) => leftOut.map(({ hint }) => hint)))
  const lines = Array.from(hints, (hint) =>
    [hint, ...files.flatMap((file) => linesOf(file, hint))].join('\n'),
  )
  return `${count} tests were left out, since what they need is not installed. To include them:\n\n${lines.join('\n\n')}\n\n`
}

/** Returns a line for a file whose tests all lack one thing; else a line for each test. */
function linesOf({ name, leftOut, length }, hint) {
  const titles = leftOut.filter((each) => each.hint === hint).map(({ title }) => title)
  if (titles.length === length) return [`  ${name}: all ${length}`]
  return titles.map((title) => `  ${name}: ${title}`)
}
