const signs = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (text) => String(text).replace(/[&<>"']/g, (sign) => signs[sign]);

export const euros = (cents) => `€ ${(cents / 100).toFixed(2)}`;
