import type { EChartsOption } from 'echarts'
import type { AdaptiveLook, Look } from './look.js'

const WIDTH = 820

/** Returns the look of an axis. */
export function axisOf({ muted, rule }: Look) {
  return {
    nameTextStyle: { color: muted },
    axisLabel: { color: muted, margin: 12, hideOverlap: true },
    axisLine: { lineStyle: { color: muted } },
    splitLine: { lineStyle: { color: rule } },
  }
}

export interface Picture {
  readonly title: string
  /** What the picture shows, in words, for those who cannot see it. */
  readonly description: string
  readonly height: number
  readonly look: Look | AdaptiveLook
  readonly option: EChartsOption
}

/** Draws with ECharts, which is not loaded before: what is measured until then has the process to itself. */
export async function svgOf({ title, description, height, look, option }: Picture): Promise<string> {
  const { init, setPlatformAPI } = await import('echarts')
  setPlatformAPI({ measureText: (text, font) => ({ width: widest(text, font) }) })
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    chart.setOption({
      animation: false,
      backgroundColor: look.background,
      title: { text: title, left: 12, top: 12, textStyle: { fontSize: 15, color: look.text } },
      ...option,
    })
    const style = 'style' in look ? `\n${look.style}` : ''
    return withWords(still(chart.renderToSVGString()), title, description, style)
  } finally {
    chart.dispose()
  }
}

/**
 * Who looks has fonts of their own. DejaVu Sans, which many a Linux shows, is among the widest: in bold
 * 0.58 em a letter, and 0.64 a digit in either.
 */
function widest(text: string, font = ''): number {
  const size = Number(/(\d+)px/.exec(font)?.[1] ?? 12)
  const digits = text.replace(/\D/g, '').length
  return size * (0.64 * digits + 0.58 * (text.length - digits))
}

/**
 * ECharts 6 adds styles for a pointer above the chart, and numbers its names through all charts of a
 * process.
 */
function still(svg: string): string {
  return svg
    .replace(/<style.*?<\/style>\n*/gs, '')
    .replace(/ (?:class|pointer-events|ecmeta_\w+)="[^"]*"/g, '')
    .replace(/(?<=["#])zr\d+-/g, '')
}

function withWords(svg: string, title: string, description: string, style: string): string {
  const words = `<title id="title">${escapeXml(title)}</title>\n<desc id="desc">${escapeXml(description)}</desc>`
  const attributes = 'role="img" aria-labelledby="title" aria-describedby="desc"'
  return svg.replace(/^<svg ([^>]*)>/, (_, others) => `<svg ${attributes} ${others}>\n${words}${style}`)
}

function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}
