/** VitePress' own theme, in the fonts of the reader's machine. */
import theme from 'vitepress/theme-without-fonts'
import './widths.css'

export default theme
