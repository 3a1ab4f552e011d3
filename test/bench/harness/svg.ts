import type { EChartsOption } from 'echarts'

const WIDTH = 760
const TEXT = '#1f2937'
const MUTED = '#6b7280'
const RULE = '#e5e7eb'

export const LABEL = { color: TEXT }

/** The look of an axis. */
export const AXIS = {
  nameTextStyle: { color: MUTED },
  axisLabel: { color: MUTED },
  axisLine: { lineStyle: { color: MUTED } },
  splitLine: { lineStyle: { color: RULE } },
}

export interface Picture {
  readonly title: string
  /** What the picture shows, in words, for those who cannot see it. */
  readonly description: string
  readonly height: number
  readonly option: EChartsOption
}

/** Draws with ECharts, which is not loaded before: what is measured until then has the process to itself. */
export async function svgOf({ title, description, height, option }: Picture): Promise<string> {
  const { init } = await import('echarts')
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    chart.setOption({
      animation: false,
      backgroundColor: '#fff', // for dark viewers too
      title: { text: title, left: 12, top: 12, textStyle: { fontSize: 15, color: TEXT } },
      ...option,
    })
    return withWords(still(chart.renderToSVGString()), title, description)
  } finally {
    chart.dispose()
  }
}

/** ECharts 6 adds styles for a pointer above the chart, and numbers its names through all charts of a process. */
function still(svg: string): string {
  return svg
    .replace(/<style.*?<\/style>\n*/gs, '')
    .replace(/ (?:class|pointer-events|ecmeta_\w+)="[^"]*"/g, '')
    .replace(/(?<=["#])zr\d+-/g, '')
}

function withWords(svg: string, title: string, description: string): string {
  const words = `<title id="title">${escaped(title)}</title>\n<desc id="desc">${escaped(description)}</desc>`
  const attributes = 'role="img" aria-labelledby="title" aria-describedby="desc"'
  return svg.replace(/^<svg ([^>]*)>/, (_, others) => `<svg ${attributes} ${others}>\n${words}`)
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}
