/**
 * Shows the buttons of `copy-button.ts`, and lets them copy. The field is selected as well, for whoever may not write to the clipboard.
 */
export const copyScript: string = `for (const button of navigator.clipboard ? document.querySelectorAll('[data-copies]') : []) {
  button.hidden = false
  button.onclick = () => {
    const field = document.getElementById(button.dataset.copies)
    field.select()
    navigator.clipboard.writeText(field.value).then(() => (button.textContent = 'Copied'), () => undefined)
  }
}`
